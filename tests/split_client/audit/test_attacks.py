"""The attacks' arithmetic, against exhaustive computations on small cases."""

from __future__ import annotations

import numpy as np
import pytest

from split_client.audit.attacks.averaging import averaged, distinct
from split_client.audit.attacks.distinguish import log_ratio
from split_client.audit.attacks.extraction import extract, relative_error
from split_client.audit.attacks.knowledge import Mechanism, PublicModel, clipped
from split_client.audit.attacks.nearest import likelihoods_of, log_likelihoods, nearest
from split_client.audit.attacks.vocabulary import shortlist


def test_likelihoods_are_those_of_gaussian_noise_around_clipped_rows(public: PublicModel) -> None:
    rng = np.random.default_rng(0)
    ids = [5, 700, 1999]
    table = public.rows(range(public.vocabulary)).astype(np.float64)
    norms = np.linalg.norm(table, axis=1, keepdims=True)
    table = np.where(norms > 2.0, table * 2.0 / norms, table)
    sent = (table[ids] + rng.normal(0, 0.4, (3, public.hidden))).astype(np.float32)
    found = log_likelihoods(sent, public, Mechanism(0.4, 2.0))
    wanted = -np.square(sent[:, None, :].astype(np.float64) - table[None]).sum(axis=2) / 0.32
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)
    assert nearest(found).tokens == wanted.argmax(axis=1).tolist()
    quiet = log_likelihoods(table[ids].astype(np.float32), public, Mechanism(0.4, 2.0))
    assert nearest(quiet).tokens == ids


def test_rows_shorter_than_the_clip_stay_as_they_are() -> None:
    rows = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]])
    assert clipped(rows, 1.0) == pytest.approx(np.array([[0.6, 0.8], [0.3, 0.4], [0.0, 0.0]]))
    assert clipped(rows, None) is rows


def test_rows_of_several_mechanisms_are_compared_in_one_look_at_the_table(
    public: PublicModel,
) -> None:
    rng = np.random.default_rng(8)
    groups = [
        (rng.normal(size=(count, public.hidden)).astype(np.float32), Mechanism(sigma, 3.0))
        for count, sigma in ((3, 0.5), (1, 0.1), (4, 2.0))
    ]
    for found, (rows, mechanism) in zip(likelihoods_of(groups, public), groups, strict=True):
        np.testing.assert_allclose(found, log_likelihoods(rows, public, mechanism), rtol=1e-9)


def test_the_mean_of_many_sightings_has_less_noise_and_resends_bring_none() -> None:
    rng = np.random.default_rng(1)
    row = rng.normal(size=(3, 50)).astype(np.float32)
    seen = [row + rng.normal(size=row.shape).astype(np.float32) for _ in range(64)]
    error = float(np.square(averaged(seen) - row).mean())
    assert error == pytest.approx(1 / 64, rel=0.4)
    assert distinct(seen) == 64
    assert distinct([seen[0], seen[0].copy()]) == 1
    assert Mechanism(2.0, 1.0).averaged(16) == Mechanism(0.5, 1.0)


def test_the_ratio_of_two_tokens_is_that_of_their_densities() -> None:
    row = np.array([0.2, 0.1], np.float32)
    one, other = np.array([1.0, 0.0]), np.array([0.0, 0.0])
    wanted = (-((0.2 - 1) ** 2) + 0.2**2) / (2 * 0.25)
    assert log_ratio(row, one, other, 0.5) == pytest.approx(wanted, rel=1e-6)


def test_an_adapter_is_copied_after_as_many_queries_as_a_state_has_numbers() -> None:
    rng = np.random.default_rng(2)
    hidden, rank = 40, 4
    adapter = rng.normal(size=(hidden, rank)) @ rng.normal(size=(rank, hidden))
    states = rng.normal(size=(80, hidden))
    added = states @ adapter.T
    few, enough = (extract(states[:n], added[:n]) for n in (20, 40))
    assert relative_error(few, states[60:], added[60:]) > 0.3
    assert relative_error(enough, states[60:], added[60:]) < 1e-8
    assert relative_error(np.zeros_like(few), states[60:], added[60:]) == pytest.approx(1.0)


def test_a_shortlist_takes_half_from_the_rows_and_half_from_the_model() -> None:
    rows, model = np.arange(10.0), -np.arange(10.0)
    assert shortlist(rows, model, 4) == [9, 8, 0, 1]
    assert shortlist(rows, rows, 4) == [9, 8]
