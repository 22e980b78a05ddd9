"""Leaks of an adapter: everything after about d queries, to a client that follows the rules.

Any linear map is known from its values at d independent points; encryption of the points does not
change that, because the client may know them. Only a budget below d leaves something open.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from split_client.crypto.errors import AdapterHostRefused
from split_client.crypto.hosted import HostedAdapters
from split_client.crypto.session import HostSession
from tests.adapter_hosts import made_adapter, made_host, running_host

_HIDDEN, _RANK = 48, 4
_FILE = made_adapter(hidden=_HIDDEN, rank=_RANK)


@dataclass(frozen=True)
class _Model:
    hidden_size: int = _HIDDEN


def _asked(url: str, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """States [n, d] and their products [n, r], of an honest client of the real host."""
    states = np.random.default_rng(3).normal(size=(count, _HIDDEN)).astype(np.float32)
    with closing(HostedAdapters(url, None, _Model())) as adapters:
        session = HostSession.open(adapters._link, adapters.available[0])
        products = [session.product(state) for state in states]
    return states.astype(np.float64), np.stack(products)


def _relative(found: NDArray[np.float64]) -> float:
    a = _FILE.a.astype(np.float64)
    return float(np.linalg.norm(found - a) / np.linalg.norm(a))


def test_d_independent_queries_give_the_adapter_away_and_fewer_do_not() -> None:
    with running_host(made_host({"made": _FILE})) as served:
        states, products = _asked(served.url, _HIDDEN)
    found = np.linalg.lstsq(states, products, rcond=None)[0].T
    assert _relative(found) < 1e-3
    # One query fewer: a line of matrices fits every answer, and the shortest one is far off.
    fewer = np.linalg.lstsq(states[:-1], products[:-1], rcond=None)[0].T
    *_, kernel = np.linalg.svd(states[:-1])
    unseen = np.outer(np.ones(_RANK), kernel[-1])
    assert np.abs((fewer + 100 * unseen) @ states[:-1].T - products[:-1].T).max() < 1e-3
    assert _relative(fewer) > 0.05
    assert np.linalg.norm(found @ kernel[-1]) > 0.5


def test_a_budget_below_d_leaves_that_many_directions_open() -> None:
    budget = _HIDDEN - 8
    with running_host(made_host({"made": _FILE}, budget=budget)) as served:
        states, products = _asked(served.url, budget)
        with pytest.raises(AdapterHostRefused) as refused:
            _asked(served.url, 1)
    assert refused.value.code == "budget_exhausted"
    assert _HIDDEN - np.linalg.matrix_rank(states) == 8
    assert _relative(np.linalg.lstsq(states, products, rcond=None)[0].T) > 0.1
