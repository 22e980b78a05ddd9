"""The tokens that rows leave possible at each place, and what the places behind say of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.ngram.trained import TokenPrior

# Tokens so many nats worse than the best by rows and frequency are left out.
_HOPELESS = 22.0
# As many are kept for their rows alone, however rare they are.
_BY_ROWS = 0.25


@dataclass(frozen=True, slots=True)
class Field:
    """By place: ``tokens`` [k] that are possible, ``evidence`` [k], the log-likelihoods of the row
    there, and ``ahead`` [k]: about what the rows behind add to a text with that token.
    """

    tokens: tuple[NDArray[np.int64], ...]
    evidence: tuple[NDArray[np.float64], ...]
    ahead: tuple[NDArray[np.float64], ...]

    @property
    def certain(self) -> bool:
        """Whether the rows alone leave one text."""
        return all(len(each) == 1 for each in self.tokens)


def field_of(
    likelihoods: NDArray[np.float64], prior: TokenPrior, most: int, end: tuple[int, ...]
) -> Field:
    """Of rows with ``likelihoods`` [n, V], at most ``most`` tokens a place.

    ``end``: the token that is known to follow, or none.
    """
    tokens = [_possible(row, prior.alone, most) for row in likelihoods]
    evidence = [row[chosen] for row, chosen in zip(likelihoods, tokens, strict=True)]
    # What does not tell the places' tokens apart is left out, so that no number is far from 0.
    evidence = [each - each.max() for each in evidence]
    if end:
        tokens.append(np.array(end[:1], np.int64))
        evidence.append(np.zeros(1))
    return Field(tuple(tokens), tuple(evidence), _ahead(tokens, evidence, prior))


def _possible(
    likelihood: NDArray[np.float64], alone: NDArray[np.float64], most: int
) -> NDArray[np.int64]:
    together = likelihood + alone
    near = np.flatnonzero(together >= together.max() - _HOPELESS)
    by_rows = np.flatnonzero(likelihood >= likelihood.max() - _HOPELESS)
    near = _highest(near, together, most)
    by_rows = _highest(by_rows, likelihood, max(1, int(_BY_ROWS * most)))
    return np.union1d(near, by_rows)


def _highest(among: NDArray[np.int64], scores: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    if len(among) <= most:
        return among
    return among[np.argpartition(-scores[among], most)[:most]]


def _ahead(
    tokens: list[NDArray[np.int64]], evidence: list[NDArray[np.float64]], prior: TokenPrior
) -> tuple[NDArray[np.float64], ...]:
    """By pairs of tokens alone, from the last place to the first."""
    ahead = [np.zeros(len(tokens[-1]))]
    for place in range(len(tokens) - 1, 0, -1):
        pairs = prior.after(tokens[place - 1][:, None], tokens[place])
        pairs += (evidence[place] + ahead[0])[None, :]
        peaks = pairs.max(axis=1)
        ahead.insert(0, peaks + np.log(np.exp(pairs - peaks[:, None]).sum(axis=1)))
    return tuple(ahead)
