"""Laws of examples with finitely many values, for which expectations are sums over samples."""

import itertools
import math
from fractions import Fraction
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Matrix, Vector, doubles
from relaxboost._core.compiled import njit
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count, exact
from relaxboost._core.rounding import roundoff, up
from relaxboost._core.seeds import Rng, accepts_seed, generator
from relaxboost.claims.shared.outcomes import Excess, Outcomes, Output
from relaxboost.game.domains import AtomicSet
from relaxboost.online.comparators.comparator import Comparator, hindsight
from relaxboost.online.kernels.rounds import Codes, rounds
from relaxboost.online.kernels.vectors import dual_norms
from relaxboost.online.learner import Learner, OnlineMethod
from relaxboost.online.losses import OnlineLoss, losses_of
from relaxboost.online.risks import promised

MAX_STORED_DOUBLES = 60_000_000
"""The maximum number of doubles that a `Law` stores to compute an expectation over all samples.
Each sample has its own learner. The doubles take about half a gigabyte."""


class Law:
    """The law of an example (h, y) with finitely many values, called atoms.

    The examples are independent, or they form a stationary Markov chain.

    Parameters
    ----------
    H : array of shape (atoms, M)
        The values of the base functions.
    y : array of shape (atoms,), optional
        The targets. The loss "inner" needs no targets.
    p : sequence of int, float or Fraction, optional
        The probabilities of the atoms. By default they are equal. The sum of their exact values
        must be within 1e-9 of 1. The values are divided by this sum.
    transitions : sequence of sequences of int, float or Fraction, optional
        The transition probabilities of the Markov chain. Row k is the law of the example after atom
        k, and p must be stationary. By default the examples are independent.

    Raises
    ------
    InputError
        If shapes, probabilities or transitions do not satisfy these conditions.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from relaxboost import Simplex, claims, online
    >>> law = claims.Law([[1, -1], [-1, 1]], y=[1, 1], p=[Fraction(2, 3), Fraction(1, 3)])
    >>> print(law.expected_excess(online.MirrorDescent("hinge", Simplex(1)), 5))
    """

    def __init__(self, H: Any, y: Any = None, p: Any = None, transitions: Any = None) -> None:
        self.H: Matrix = np.ascontiguousarray(doubles("H", H))
        if self.H.ndim != 2 or not self.H.size:
            raise InputError(f"H must have shape (atoms, M), got {self.H.shape}")
        if not np.isfinite(self.H).all():
            row, j = np.argwhere(~np.isfinite(self.H))[0]
            raise InputError(
                f"all entries of H must be finite, but atom {row} has {self.H[row, j]} for base "
                f"function {j}"
            )
        atoms = len(self.H)
        self.y: Vector = np.zeros(atoms) if y is None else doubles("y", y)
        if self.y.shape != (atoms,):
            raise InputError(
                f"y must have shape ({atoms},), with one target for each atom, got {self.y.shape}"
            )
        self.p = _probabilities("p", [Fraction(1, atoms)] * atoms if p is None else p, atoms)
        self.transitions: tuple[tuple[Fraction, ...], ...] | None = None
        if transitions is not None:
            rows = list(transitions)
            if len(rows) != atoms:
                raise InputError(f"transitions must have {atoms} rows, got {len(rows)}")
            self.transitions = tuple(_probabilities("transitions", row, atoms) for row in rows)
            self._check_stationary()
        self._found: list[tuple[OnlineLoss, Any, Comparator]] = []

    def __repr__(self) -> str:
        p = ", ".join(str(q) for q in self.p)
        chain = "" if self.transitions is None else ", a Markov chain"
        return f"Law({self.H.tolist()}, y={self.y.tolist()}, p=[{p}]{chain})"

    def risk(self, loss: OnlineLoss, w: Any) -> Any:
        """Return the risk A(w) = Σ p_k Q(w, z_k) of weights w of shape (M,) or (N, M)."""
        W = doubles("w", w)
        found = losses_of(loss, np.atleast_2d(W), self.H, self.y) @ self._weights
        return float(found[0]) if W.ndim == 1 else found

    def least(self, method: OnlineMethod) -> Comparator:
        """Return weights with the least risk in the domain of a method, and bounds on this risk."""
        for loss, over, best in self._found:
            if loss == method.loss and over == method.over:
                return best
        best = self._hindsight(method, self._weights)
        self._found.append((method.loss, method.over, best))
        return best

    def regrets(self, outcomes: Outcomes) -> tuple[Vector, Vector]:
        """Return lower and upper bounds on the regret of each sample against the best weights."""
        method = outcomes.method
        t = outcomes.samples.shape[1]
        bags, place = np.unique(np.sort(outcomes.samples), axis=0, return_inverse=True)
        best = [self._hindsight(method, np.bincount(bag, minlength=len(self.p))) for bag in bags]
        lower = np.array([one.lower for one in best])[place.ravel()]
        upper = np.array([one.upper for one in best])[place.ravel()]
        slack = t * outcomes.rounding
        return outcomes.loss - upper - slack, outcomes.loss - lower + slack

    def _hindsight(self, method: OnlineMethod, weight: Any) -> Comparator:
        return hindsight(method.loss, method.over, (self.H, self.y, weight), tol=1e-9)

    def _sizes(self, method: OnlineMethod) -> tuple[float, float]:
        """Return upper bounds on |Q| and on ‖w‖_1 |Q'| for the loss Q over the domain."""
        loss = method.loss
        reach = method.over.reach(self.H.shape[1])
        size = float(np.abs(self.H).max())
        steep = reach * loss.lipschitz(reach * size, size, float(np.abs(self.y).max()))
        start = method.proxy.start(method.over, self.H.shape[1])
        largest = float(np.abs(losses_of(loss, start[None], self.H, self.y)).max())
        return largest + 2.0 * steep, steep

    def expected_excess(
        self, method: OnlineMethod, t: int, output: Output = "average", order: Any = None
    ) -> Excess:
        """Return the expected excess risk over all samples. The parameters are as in `outcomes`."""
        return self.outcomes(method, t, output, order).excess()

    def outcomes(
        self, method: OnlineMethod, t: int, output: Output = "average", order: Any = None
    ) -> Outcomes:
        """Return the results of a method on all samples of t examples.

        Parameters
        ----------
        method : OnlineMethod
            The method of the learner.
        t : int
            The number of examples.
        output : str
            The output of the learner. "average" is the average of w_0, ..., w_{t−1}. "last" is w_t.
            "uniform" is one of w_0, ..., w_{t−1}, chosen uniformly at random, so its risk is their
            mean risk. "majority" is the majority vote of w_0, ..., w_{t−1}, and its risk is the
            probability of an error.
        order : callable or sequence of numbers, optional
            A function gets a sample, which is a tuple of atoms, and returns it in the order in
            which the learner sees it. A sequence has a number for each atom. Each sample is then
            sorted by these numbers, and only the multisets of t atoms are enumerated.

        Raises
        ------
        InputError
            If there are too many samples to enumerate. In this case, use `drawn`.
        """
        samples, probability = self._samples(count("t", t), order)
        return self._outcomes(method, samples, probability, output, drawn=False)

    @accepts_seed
    def drawn(
        self, method: OnlineMethod, t: int, runs: int, output: Output = "average", rng: Rng = 0
    ) -> Outcomes:
        """Return the results of a method on `runs` independent random samples of t examples.

        `rng` is the seed (>= 0) of the samples, a generator, or None for a new seed. The other
        parameters are those of `outcomes`.
        """
        rng = generator(rng)
        p = self._weights
        shape = (count("runs", runs), count("t", t))
        samples = rng.choice(len(p), shape, p=p).astype(np.int32)
        if self.transitions is not None:
            steps = np.cumsum(self._moves, axis=1)
            steps[:, -1] = 1.0
            for i in range(1, t):
                samples[:, i] = (rng.random(runs)[:, None] >= steps[samples[:, i - 1]]).sum(axis=1)
        return self._outcomes(method, samples, np.full(runs, 1.0 / runs), output, drawn=True)

    def _width(self, method: OnlineMethod, lower: float, steep: float) -> float:
        """Return an upper bound on the largest risk over the domain minus the least risk."""
        over = method.over
        M = self.H.shape[1]
        if not isinstance(over, AtomicSet):
            return 2.0 * steep
        # A convex risk is largest at a corner.
        corners = over.scale * np.eye(M)
        parts = [corners, -corners] if over.two_sided else [corners]
        parts += [np.zeros((1, M))] if over.holds_zero else []
        highest = float(self.risk(method.loss, np.concatenate(parts)).max())
        return highest - lower + roundoff(M + len(self.p) + 80) * (abs(highest) + steep)

    @property
    def _weights(self) -> Vector:
        return np.array([float(q) for q in self.p])

    @property
    def _moves(self) -> Matrix:
        rows = self.transitions or (self.p,) * len(self.p)
        return np.array([[float(q) for q in row] for row in rows])

    def _check_stationary(self) -> None:
        assert self.transitions is not None
        for k, column in enumerate(zip(*self.transitions, strict=True)):
            gap = sum(q * move for q, move in zip(self.p, column, strict=True)) - self.p[k]
            if abs(gap) > Fraction(1, 10**9):
                raise InputError(
                    "p must be stationary under the transitions, but one step changes the "
                    f"probability of atom {k} from {float(self.p[k]):g} to "
                    f"{float(self.p[k] + gap):g}"
                )

    def _samples(self, t: int, order: Any) -> tuple[NDArray[np.integer[Any]], Vector]:
        if order is not None and not callable(order):
            return self._sorted_samples(t, order)
        moves = self._moves
        ways = (self._weights > 0.0).astype(np.float64)
        for _ in range(1, t):
            ways = ways @ (moves > 0.0)
        self._check_size(float(ways.sum()), t)
        samples = np.flatnonzero(self._weights).astype(np.int32)[:, None]
        probability = self._weights[samples[:, 0]]
        # Samples of probability 0 are left out.
        for _ in range(1, t):
            grown = probability[:, None] * moves[samples[:, -1]]
            parents, atoms = np.nonzero(grown)
            samples = np.column_stack([samples[parents], atoms.astype(np.int32)])
            probability = grown[parents, atoms]
        if order is None:
            return samples, probability
        arranged = [list(order(tuple(row))) for row in samples.tolist()]
        if any(
            sorted(new) != sorted(old) for new, old in zip(arranged, samples.tolist(), strict=True)
        ):
            raise InputError("order must return a permutation of its argument")
        samples, place = np.unique(np.array(arranged, dtype=np.int32), axis=0, return_inverse=True)
        return samples, doubles("p", np.bincount(place.ravel(), probability))

    def _check_size(self, samples: float, t: int) -> None:
        if samples * (2 * self.H.shape[1] + t) > MAX_STORED_DOUBLES:
            raise InputError(
                f"there are {samples:.3g} samples of {t} examples, which are too many to "
                "enumerate. Use Law.drawn, which draws random samples"
            )

    def _sorted_samples(self, t: int, keys: Any) -> tuple[NDArray[np.integer[Any]], Vector]:
        if self.transitions is not None or np.shape(keys) != (len(self.p),):
            raise InputError(
                "order must be a callable or, for independent examples, a sequence of "
                f"{len(self.p)} numbers, one for each atom"
            )
        ranks = np.argsort(np.asarray(keys), kind="stable").tolist()
        self._check_size(float(math.comb(t + len(ranks) - 1, t)), t)
        rows = []
        chances = []
        for row in itertools.combinations_with_replacement(ranks, t):
            chance = Fraction(1)
            left = t
            for atom in ranks:
                times = row.count(atom)
                chance *= math.comb(left, times) * self.p[atom] ** times
                left -= times
            if chance:
                rows.append(row)
                chances.append(float(chance))
        return np.array(rows, dtype=np.int32), np.array(chances)

    def _outcomes(
        self, method: OnlineMethod, samples: Any, probability: Vector, output: Output, drawn: bool
    ) -> Outcomes:
        if output not in get_args(Output):
            raise InputError(f"output must be one of {', '.join(get_args(Output))}, got {output!r}")
        if output == "majority" and not np.isin(self.y, (-1.0, 1.0)).all():
            raise InputError(
                "output 'majority' needs the targets -1 and +1, but this law has other targets"
            )
        (atoms, M), t = self.H.shape, samples.shape[1]
        learner = method.start(M)
        # If the method does not accept an atom, this raises an error before work starts.
        learner.update(self.H, self.y)
        states, carried = _walk(self, method, samples, output, drawn)
        if output == "majority":
            risk = (np.sign(carried) * self.y <= 0.0) @ self._weights
            least = (0.0, 0.0)
        else:
            best = self.least(method)
            least = best.lower, best.upper
            if output == "uniform":
                risk = carried[:, 0] / t
            else:
                risk = self.risk(method.loss, states[2 if output == "average" else 0])
        loss, promise = np.empty((2, len(samples)))
        for i, sums in enumerate(states[3]):
            learner.arrays()[3][:] = sums
            loss[i] = learner.loss
            promise[i] = learner.regret_bound()
        largest, steep = self._sizes(method)
        return Outcomes(
            method,
            samples,
            probability,
            risk,
            loss,
            promise,
            least,
            bound=promised(learner, t) if output in ("average", "uniform") else math.inf,
            rounding=up(roundoff(M + atoms + 3 * t + 80) * (largest + steep)),
            width=1.0 if output == "majority" else self._width(method, least[0], steep),
            drawn=drawn,
        )


def _walk(
    law: Law, method: OnlineMethod, samples: Any, output: Output, drawn: bool
) -> tuple[tuple[Array, ...], Matrix]:
    """Run a learner on each sample. Return the final arrays of the learners, and the sums over the
    run from which the `output` is computed.
    """
    # Samples are in lexicographic order. Those with the same beginning share a node of the tree,
    # and one learner learns this beginning. Random samples share no nodes.
    learner = method.start(law.H.shape[1])
    states = tuple(array[None].copy() for array in learner.arrays())
    node = np.zeros(len(samples), dtype=np.intp)
    fresh = np.full(len(samples), drawn)
    fresh[0] = True
    width = {"uniform": 1, "majority": len(law.H)}.get(output, 0)
    carried = np.zeros((1, width))
    for i in range(samples.shape[1]):
        if output == "uniform":
            carried = carried + law.risk(method.loss, states[0])[:, None]
        elif output == "majority":
            carried = carried + np.sign(states[0] @ law.H.T)
        fresh[1:] |= samples[1:, i] != samples[:-1, i]
        first = np.flatnonzero(fresh)
        parents = node[first]
        states = _branched(learner, law, states, (parents, samples[first, i].astype(np.intp)))
        carried = carried[parents]
        node = np.cumsum(fresh) - 1
    return states, carried


def _branched(
    learner: Learner, law: Law, states: tuple[Array, ...], tree: tuple[Any, Any]
) -> tuple[Array, ...]:
    """Return the states of copies of learners after each copy has learned one more atom.

    `tree` has the indices of the learners to copy in `states`, and the atom for each copy.
    """
    new = tuple(np.ascontiguousarray(array[tree[0]]) for array in states)
    codes = learner.compiled()
    if codes is not None:
        sizes = dual_norms(law.H, learner.method.proxy.norm == "l2")
        _branches(law.H, (sizes, law.y, np.ones(len(law.y))), new, tree[1], codes)
        return new
    for child, atom in enumerate(tree[1].tolist()):
        for own, array in zip(learner.arrays(), new, strict=True):
            own[:] = array[child]
        learner.update(law.H[atom], law.y[atom])
        for own, array in zip(learner.arrays(), new, strict=True):
            array[child] = own
    return new


@njit(nogil=True)
def _branches(
    H: Matrix,
    rows: tuple[Vector, Vector, Vector],
    states: tuple[Matrix, Matrix, Matrix, Matrix],
    atoms: Vector,
    codes: Codes,
) -> None:
    # Learner i learns from row atoms[i] of H. Its state is row i of each array of `states`.
    w, z, mean, sums = states
    sizes, y, weight = rows
    # Slices are views, so each learner changes its row of the arrays.
    for i in range(atoms.size):
        k = atoms[i]
        one = slice(k, k + 1)
        state = (w[i], z[i], mean[i], sums[i])
        rounds(H[one], (sizes[one], y[one], weight[one]), state, codes)


def _probabilities(name: str, given: Any, atoms: int) -> tuple[Fraction, ...]:
    shares = [exact("Law", name, value) for value in given]
    total = sum(shares, Fraction(0))
    if len(shares) != atoms or min(shares) < 0 or abs(total - 1) > Fraction(1, 10**9):
        raise InputError(
            f"{name} must be {atoms} numbers >= 0 that add up to 1, got "
            f"{', '.join(str(value) for value in given)}"
        )
    return tuple(q / total for q in shares)
