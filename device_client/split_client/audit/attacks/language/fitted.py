"""How much each of several priors is worth: shares under which held-out texts are likeliest.

Expectation and maximisation (Dempster et al. 1977) over the tokens of texts that no prior has
learnt from: a small model knows less of how people write than counts do, a larger one more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.lattice.search import Prior

_ROUNDS = 60
# Of each at least: what a held-out text is like, not every message is, and names are in counts.
LEAST = 0.25


def shares(
    priors: Sequence[Prior],
    lead: Sequence[int],
    texts: Sequence[Sequence[int]],
    least: float = LEAST,
) -> tuple[float, ...]:
    """A share of each of ``priors``, ``least`` of each, together one, by ``texts`` behind ``lead``.

    ``texts`` have a token at least. Raises what the priors raise.
    """
    told = np.stack([_told(prior, lead, texts) for prior in priors])
    # What does not tell priors apart is left out, so that the likeliest is 1.
    chances = np.exp(told - told.max(axis=0))
    found = np.full(len(priors), 1.0 / len(priors))
    for _ in range(_ROUNDS):
        parts = found[:, None] * chances
        found = (parts / parts.sum(axis=0)).mean(axis=1)
    return tuple(map(float, least + (1.0 - least * len(priors)) * found))


def _told(prior: Prior, lead: Sequence[int], texts: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Log probabilities of all tokens of ``texts``, the first ones first."""
    found = []
    for place in range(max(map(len, texts))):
        going = [text for text in texts if len(text) > place]
        begun = np.array([[*lead, *text[:place]] for text in going], np.int64)
        tokens, column = np.unique([text[place] for text in going], return_inverse=True)
        found.append(prior.after(begun, tokens)[np.arange(len(going)), column])
    return np.concatenate(found)
