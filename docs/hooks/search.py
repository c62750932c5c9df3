"""The weight of each page in the search: guides before reference, and reference before claims."""

from typing import Any

BOOSTS = {
    "Home": 6.0,
    "Tutorials": 5.0,
    "How-to": 5.0,
    "Explanation": 3.0,
    "Reference": 2.0,
    "Gallery": 0.5,
    "Findings": 1.0,
    "Benchmarks": 0.5,
}
"""The weight by the tab under which a page stands."""

KEYWORDS = {
    "index.md": ["install", "installation", "pip"],
    "x_and_y.md": ["wrong labels", "MarginBoostClassifier", "classifier", "missing values", "nan"],
    "theorem.md": ["check a theorem", "lemma"],
    "my_relaxation.md": ["own relaxation", "Custom"],
    "faster_relaxation.md": ["proved bounds", "own formulas", "faster"],
    "my_solver.md": ["pytest", "test a solver", "tolerance"],
    "routes.md": ["shortest path", "trips", "route", "toll"],
    "online_tutorial.md": ["stream", "csv"],
    "portfolios.md": ["portfolio", "CVaR", "EVaR", "Gini", "risk measure", "returns"],
    "choose.md": ["choose k", "soft margin", "which method"],
    "verify.md": ["verify", "cvxpy"],
    "check_certificate.md": ["browser", "upload"],
    "export.md": ["Lean", "VIPR", "LaTeX", "MPS", "export"],
    "ensembles.md": ["random forest", "XGBoost", "LightGBM", "ensemble", "sklearn model"],
    "large_data.md": ["large data", "dask", "parquet", "memory", "cluster", "out of core"],
    "resume.md": ["resume", "checkpoint", "warm start", "interrupt", "time limit", "path of caps"],
    "scikit_learn.md": ["scikit-learn", "class_weight", "pipeline", "GridSearchCV"],
    "instances.md": ["instances", "reference solutions", "generator", "random game"],
    "own_claim.md": ["conjecture", "own claim", "attack"],
    "worst_case.md": ["worst case", "semidefinite", "PEPit", "gradient descent"],
    "custom_loss.md": ["own loss", "custom loss", "asymmetric", "CustomLoss"],
    "custom_learner.md": ["weak learner", "own learner", "oracle"],
    "custom_proxy.md": ["own proxy", "prior"],
    "game.md": ["game", "duality", "margin matrix"],
    "certificates.md": ["certificate", "bracket", "proof", "witness"],
    "boosters.md": ["AdaBoost", "LPBoost", "SoftBoost", "ERLPBoost", "booster"],
    "trace.md": ["auto", "trace", "slow", "verbose", "phase"],
    "functional.md": ["gradient boosting", "prediction interval", "quantile", "residual", "naive"],
    "online.md": ["regret", "online to batch", "Hedge", "mirror descent"],
    "planning.md": ["maximum margin planning", "inverse", "demonstrations"],
    "checking-claims.md": ["verdict", "tight", "slack", "claim"],
    "conditions.md": ["norm", "conditions", "Theorem 7", "orthant-monotonic"],
    "mathematics.md": ["interior point", "smoothing", "taut strings", "derivation"],
    "relaxations.md": ["Capped", "conjugate", "chi-square", "KL", "entropy", "Mahalanobis"],
    "methods.md": ["method", "SmoothBoost", "TotalBoost", "MLPBoost", "guarantee"],
    "losses.md": ["loss", "Huber", "hinge", "logistic", "stumps"],
    "online_learners.md": ["proxy", "schedule", "river", "HedgedDescent", "step size"],
    "path_costs.md": ["OpenStreetMap", "networkx", "lasso"],
    "file_formats.md": ["exit status", "json", "file"],
    "findings.md": ["counterexample", "errors in papers"],
    "benchmarks.md": ["speed", "benchmark"],
    "suite.md": ["HiGHS", "Clarabel"],
    "reproductions.md": ["reproduce"],
    "others.md": ["alternatives", "comparison"],
    "papers.md": ["cite", "references"],
}
"""The index of the site: the words under which a reader looks for each page."""

REST = 0.3
"""The weight of pages that stand under no tab: those of the objects of the API."""


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """Give a page the weight of its tab, and its keywords."""
    top = page.ancestors[-1].title if page.ancestors else page.title
    page.meta.setdefault("search", {}).setdefault("boost", BOOSTS.get(top, REST))
    if words := KEYWORDS.get(page.file.src_uri):
        page.meta["tags"] = words
    return markdown
