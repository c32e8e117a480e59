"""The marginal likelihood of a logit model with random intercepts, by quadrature or Laplace.

Random intercepts are sd * u with u standard normal, so that sd = 0 is an ordinary point and the
likelihood is an even, smooth function of each sd. Log binomial coefficients do not depend on the
parameters; `Trials.constant` gives their sum, and the likelihoods here leave it out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from sally.stats.columns import Codes, Floats


@dataclass(frozen=True)
class Trials:
    """Binomial outcomes, their design and offset, row by row."""

    successes: Floats
    trials: Floats
    design: Floats
    offset: Floats

    def fixed_part(self, beta: Floats) -> Floats:
        """The linear predictor without random intercepts."""
        return np.asarray(self.offset + self.design @ beta)

    def constant(self) -> float:
        """The log binomial coefficients; zero if every row is a single trial."""
        y, m = self.successes, self.trials
        logs = (
            scipy.special.gammaln(m + 1)
            - scipy.special.gammaln(y + 1)
            - scipy.special.gammaln(m - y + 1)
        )
        return float(logs.sum())


@dataclass(frozen=True)
class OneIntercept:
    """Rows sorted by group, with the row at which each group starts."""

    data: Trials
    group: Codes
    starts: Codes

    @classmethod
    def of(cls, data: Trials, codes: Codes) -> OneIntercept:
        """Sort the rows, so that sums by group are sums over neighbours."""
        order = np.argsort(codes, kind="stable")
        ordered = Trials(
            data.successes[order], data.trials[order], data.design[order], data.offset[order]
        )
        group = codes[order]
        return cls(ordered, group, np.flatnonzero(np.diff(group, prepend=-1)))

    def log_likelihood(self, beta: Floats, sd: float, nodes: int) -> float:
        """Adaptive Gauss-Hermite quadrature in every group; one node is Laplace's method."""
        fixed = self.data.fixed_part(beta)
        mode, scale = self._modes(fixed, sd)
        x, log_weight = _hermite(nodes)
        u = mode[:, None] + np.sqrt(2) * scale[:, None] * x
        terms = self._joint(fixed, sd, u) + log_weight + x**2
        # The integral of exp(joint) against du / sqrt(2 pi), with u = mode + sqrt(2) scale x.
        groups = _log_sums(terms) + np.log(scale) - 0.5 * np.log(np.pi)
        return float(groups.sum())

    def _joint(self, fixed: Floats, sd: float, u: Floats) -> Floats:
        """Log density of the outcomes and of u, up to constants, for groups x points."""
        eta = fixed[:, None] + sd * u[self.group]
        rows = self.data.successes[:, None] * eta - self.data.trials[:, None] * np.logaddexp(0, eta)
        return np.asarray(np.add.reduceat(rows, self.starts, axis=0) - u**2 / 2)

    def _modes(self, fixed: Floats, sd: float) -> tuple[Floats, Floats]:
        """The peak and width of each group's posterior, by Newton steps that never descend."""
        u = np.zeros(self.starts.size)
        height = self._joint(fixed, sd, u[:, None])[:, 0]
        for _ in range(200):
            slope, curve = self._derivatives(fixed, sd, u)
            step = slope / curve
            if np.abs(step).max() < 1e-11:
                return u, 1 / np.sqrt(curve)
            tried = self._joint(fixed, sd, (u + step)[:, None])[:, 0]
            while (worse := tried < height - 1e-10 * (1 + np.abs(height))).any():
                step = np.where(worse, step / 2, step)
                tried = self._joint(fixed, sd, (u + step)[:, None])[:, 0]
            u, height = u + step, tried
        return u, 1 / np.sqrt(self._derivatives(fixed, sd, u)[1])

    def _derivatives(self, fixed: Floats, sd: float, u: Floats) -> tuple[Floats, Floats]:
        p = scipy.special.expit(fixed + sd * u[self.group])
        residual = self.data.successes - self.data.trials * p
        weight = self.data.trials * p * (1 - p)
        slope = sd * np.add.reduceat(residual, self.starts) - u
        return slope, sd**2 * np.add.reduceat(weight, self.starts) + 1


@dataclass(frozen=True)
class CrossedIntercepts:
    """Rows that belong to one level of each of several factors at once."""

    data: Trials
    levels: scipy.sparse.csr_array
    factor: Codes

    @classmethod
    def of(cls, data: Trials, codes: list[Codes], counts: list[int]) -> CrossedIntercepts:
        """One indicator column per level, the factors side by side."""
        rows = data.successes.size
        blocks = [
            scipy.sparse.csr_array((np.ones(rows), (np.arange(rows), code)), shape=(rows, count))
            for code, count in zip(codes, counts, strict=True)
        ]
        return cls(
            data,
            scipy.sparse.csr_array(scipy.sparse.hstack(blocks)),
            np.repeat(range(len(counts)), counts),
        )

    def log_likelihood(self, beta: Floats, sds: Floats) -> float:
        """Laplace's approximation at the joint peak of all random intercepts."""
        fixed = self.data.fixed_part(beta)
        scale = sds[self.factor]
        u = np.zeros(scale.size)
        height = self._joint(fixed, scale, u)
        for _ in range(200):
            slope, root = self._derivatives(fixed, scale, u)
            step = scipy.linalg.cho_solve((root, True), slope)
            if np.abs(step).max() < 1e-11:
                break
            tried = self._joint(fixed, scale, u + step)
            while tried < height - 1e-10 * (1 + abs(height)):
                step = step / 2
                tried = self._joint(fixed, scale, u + step)
            u, height = u + step, tried
        root = self._derivatives(fixed, scale, u)[1]
        return self._joint(fixed, scale, u) - float(np.log(np.diag(root)).sum())

    def _joint(self, fixed: Floats, scale: Floats, u: Floats) -> float:
        eta = fixed + self.levels @ (scale * u)
        rows = self.data.successes * eta - self.data.trials * np.logaddexp(0, eta)
        return float(rows.sum() - (u**2).sum() / 2)

    def _derivatives(self, fixed: Floats, scale: Floats, u: Floats) -> tuple[Floats, Floats]:
        """The slope at u and the lower Cholesky root of the negative curvature."""
        p = scipy.special.expit(fixed + self.levels @ (scale * u))
        slope = scale * (self.levels.T @ (self.data.successes - self.data.trials * p)) - u
        weighted = self.levels.multiply((self.data.trials * p * (1 - p))[:, None])
        curve = (self.levels.T @ weighted).toarray() * np.outer(scale, scale)
        return slope, scipy.linalg.cholesky(curve + np.eye(u.size), lower=True)


def _log_sums(terms: Floats) -> Floats:
    """The logarithm of each row's sum of exponentials, as scipy has it, in a third of the time."""
    top = terms.max(axis=1, keepdims=True)
    highest = terms == top
    many = highest.sum(axis=1, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = np.exp(np.where(highest, -np.inf, terms) - top).sum(axis=1)
        found: Floats = np.log1p(rest / many) + np.log(many) + top[:, 0]
    if not np.isfinite(found).all():
        return np.asarray(scipy.special.logsumexp(terms, axis=1))
    return found


@lru_cache
def _hermite(nodes: int) -> tuple[Floats, Floats]:
    x, weight = np.polynomial.hermite.hermgauss(nodes)
    return x, np.log(weight)
