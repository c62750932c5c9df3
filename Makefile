# Two commands do everything, set-up included: `make demo` and `make test`.
PYTHON ?= python3
LIMIT ?= 60
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
READY := $(VENV)/.ready
DOCS := $(VENV)/.docs
# Without bytecode each worker and each process of the tests compiles the package and rewrites tests.
unexport PYTHONDONTWRITEBYTECODE
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable

.PHONY: help venv demo prototype test pytest check coverage review processors release-check format claims tables mutants docs site-check bench figures clean

help:
	@echo "make venv       install everything that a change needs into .venv (two minutes)"
	@echo "make demo       solve a real game with a reference solver and both boosters (half a minute)"
	@echo "make prototype  your own relaxation: from its definition to a picture (half a minute)"
	@echo "make test       lint, format and type check, then the tests"
	@echo "make check      the checks alone"
	@echo "make pytest     the tests alone"
	@echo "make coverage   the tests, and which lines they run (an hour)"
	@echo "make review     what sp-repo-review, zizmor and cffconvert say of this repository"
	@echo "make processors the numeric tests as five kinds of processors compute them (hours)"
	@echo "make release-check  build the wheel and the sdist, and use each where nothing else is"
	@echo "make format     correct what the formatter can correct"
	@echo "make claims     check the claims and renew their numbers in docs/findings.md (two minutes); ONLY="'TEL-*'" checks those alone"
	@echo "make tables     renew tables of the docs from the classes (ten seconds)"
	@echo "make mutants    plant errors in the claims, and count those that the checks refute (five minutes)"
	@echo "make docs       build the documentation into site/"
	@echo "make site-check check every page of site/ in Chromium, wide and narrow, and the search"
	@echo "make bench      compare solvers on the suite, LIMIT=60 seconds each, DATA= a folder of data"
	@echo "make figures    run the other benchmarks (ten minutes)"
	@echo "make clean      remove the environment and everything built"

$(CORE): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "relaxboost needs Python 3.11 or later; make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing relaxboost and what it needs into $(VENV) (once, under a minute) ..."
	@$(INSTALL) '.[plots]'
	@touch $(CORE)

$(READY): $(CORE)
	@echo "Installing what the tests need into $(VENV) (once, a minute) ..."
	@$(INSTALL) '.[test]'
	@touch $(READY)

venv: $(READY)

demo: $(CORE)
	@mkdir -p output
	$(BIN)/python examples/breast_cancer.py output/breast_cancer.png

prototype: $(CORE)
	@mkdir -p output
	$(BIN)/python examples/prototype_a_relaxation.py output/prototype.png

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

pytest: $(READY)
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

test: check pytest

coverage: $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'coverage>=7.10'
	$(BIN)/python -m coverage run -m pytest --numprocesses 2 --dist worksteal
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --skip-covered --sort cover

# A later pip than that of a new environment installs groups of pyproject.toml. It goes into a folder
# of its own, so that the tests keep the libraries that they ask for.
review:
	@test -x $(VENV)/review/bin/python || $(PYTHON) -m venv $(VENV)/review
	@$(VENV)/review/bin/python -m pip install --quiet --disable-pip-version-check 'pip>=25.1'
	@$(VENV)/review/bin/python -m pip install --quiet --group review
	$(VENV)/review/bin/repo-review .
	$(VENV)/review/bin/zizmor --offline .
	$(VENV)/review/bin/cffconvert --validate

processors: $(READY)
	$(BIN)/python .ci/processors.py

release-check:
	$(PYTHON) .ci/release_check.py

# Fixes may leave lines that the formatter wraps, so that what is left is reported at the end.
format: $(READY)
	$(BIN)/ruff check --quiet --fix-only .
	$(BIN)/ruff format .
	$(BIN)/ruff check .

claims: $(READY)
	$(BIN)/relaxboost claims check $(ONLY)
	$(BIN)/python -m docs.hooks.claim_pages.ledger docs

tables: $(READY)
	$(BIN)/python -m docs.family_tables

mutants: $(READY)
	$(BIN)/python -m tests.claims.mutants

$(DOCS): $(CORE) docs/checker/package-lock.json
	@echo "Installing what the documentation needs into $(VENV) (once, under a minute) ..."
	@$(INSTALL) '.[docs]'
	@npm ci --prefix docs/checker --omit=dev --no-audit --no-fund --silent || \
	  echo "no npm: the page that checks certificates in the browser will say that it cannot"
	@touch $(DOCS)

docs: $(DOCS)
	$(BIN)/mkdocs build --strict

site-check: docs $(READY)
	$(BIN)/python .ci/site_check.py

bench: $(READY)
	@$(INSTALL) '.[bench]'
	$(BIN)/python -m benchmarks.solvers --limit $(LIMIT) $(if $(DATA),--data $(DATA))
	cp -r output/bench/suite.md output/bench/suite.csv output/bench/images docs/

figures: $(READY)
	for script in $(filter-out benchmarks/ablation.py,$(wildcard benchmarks/[a-z]*.py)); do $(BIN)/python $$script || exit 1; done

clean:
	rm -rf $(VENV) output site build dist .mypy_cache .ruff_cache .hypothesis
