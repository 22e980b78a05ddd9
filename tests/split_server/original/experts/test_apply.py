from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from split_he.errors import HeUnavailable, InputOutOfRange
from split_server.adapters.adapter_file import AdapterFile
from split_server.adapters.folder import open_adapters
from split_server.original.experts import apply as application
from split_server.original.experts.apply import Applied, Experts
from split_server.original.experts.encryption import HeTimes
from split_server.original.experts.input_noise import InputNoise
from split_wire.errors import HiddenOverflow
from tests.adapted import write_adapter

HIDDEN = 48


@pytest.fixture
def adapters(tmp_path: Path) -> dict[str, AdapterFile]:
    write_adapter(tmp_path / "x", HIDDEN)
    return open_adapters(tmp_path, HIDDEN)


def rows(count: int) -> np.ndarray:
    return np.random.default_rng(3).standard_normal((count, HIDDEN)).astype(np.float32)


def exact(adapter: AdapterFile, given: np.ndarray) -> np.ndarray:
    wide = given.astype(np.float64)
    return wide + adapter.scale * (wide @ adapter.a.T) @ adapter.b.T


def apply(experts: Experts, given: np.ndarray, *, use_he: bool = True) -> Applied:
    try:
        return asyncio.run(experts.apply("x", given, use_he=use_he))
    finally:
        experts.close()


class Failing:
    """Keys that refuse every row."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __call__(self, _a: np.ndarray) -> Failing:
        return self

    def multiply(self, _rows: np.ndarray) -> Any:
        raise self.error

    def refill(self) -> bool:
        return False


def test_under_encryption_every_row_is_that_of_the_clear_adapter(
    adapters: dict[str, AdapterFile],
) -> None:
    pytest.importorskip("tenseal")
    given = rows(19)
    applied = apply(Experts(adapters), given)
    assert applied.times is not None
    assert applied.reason is None
    assert min(applied.times.encrypt, applied.times.compute, applied.times.decrypt) > 0
    np.testing.assert_allclose(applied.hidden, exact(adapters["x"], given), rtol=1e-3, atol=1e-3)


REASONS: dict[str, tuple[Callable[[Any], Experts], bool, str]] = {
    "the request does not want it": (lambda a: Experts(a), False, "use_he is false"),
    "the server does not": (lambda a: Experts(a, encrypt=False), True, "--no-he"),
    "too many rows": (lambda a: Experts(a, max_rows=3), True, "4 rows are more than the 3"),
    "too many requests": (lambda a: Experts(a, max_waiting=0), True, "0 requests wait"),
    "out of range": (lambda a: Experts(a, new=Failing(InputOutOfRange(9, 5))), True, "norm 9"),
    "SEAL refuses": (lambda a: Experts(a, new=Failing(HeUnavailable("weak"))), True, "weak"),
}


@pytest.mark.parametrize("name", REASONS)
def test_where_it_is_not_encrypted_it_is_applied_in_the_clear_and_says_why(
    adapters: dict[str, AdapterFile], name: str
) -> None:
    make, use_he, reason = REASONS[name]
    given = rows(4)
    applied = apply(make(adapters), given, use_he=use_he)
    assert applied.times is None
    assert applied.reason is not None
    if application.HE_AVAILABLE:
        assert reason in applied.reason
    np.testing.assert_allclose(applied.hidden, exact(adapters["x"], given), rtol=1e-4, atol=1e-4)


def test_without_tenseal_it_says_what_to_install(
    adapters: dict[str, AdapterFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(application, "HE_AVAILABLE", False)
    experts = Experts(adapters)
    assert not experts.encrypts
    applied = apply(experts, rows(1))
    assert applied.times is None
    assert "gatelink[he]" in str(applied.reason)


def test_noise_goes_into_the_adapter_and_not_onto_the_state(
    adapters: dict[str, AdapterFile],
) -> None:
    """Without B A nothing of the noise is left."""
    noise = InputNoise.for_epsilon(1.0, 0.5, HIDDEN)
    given, adapter = rows(2), adapters["x"]
    noised = apply(Experts(adapters, noise=noise), given, use_he=False)
    change = noised.hidden.astype(np.float64) - given
    # The change lies in the columns of B.
    residual = change.T - adapter.b @ np.linalg.lstsq(adapter.b, change.T, rcond=None)[0]
    assert np.abs(residual).max() <= 1e-4 * np.abs(change).max()
    assert np.abs(noised.hidden - exact(adapter, given)).max() > 0.1


def test_a_result_that_is_not_finite_is_refused(adapters: dict[str, AdapterFile]) -> None:
    given = np.full((1, HIDDEN), 3e38, np.float32)
    with pytest.raises(HiddenOverflow):
        apply(Experts(adapters), given, use_he=False)


def test_a_token_does_not_wait_for_the_whole_of_a_long_prompt(
    adapters: dict[str, AdapterFile],
) -> None:
    served: list[int] = []

    class Counting(Failing):
        def multiply(self, given: np.ndarray) -> Any:
            served.append(int(given[0, 0]))
            return np.zeros((len(given), 4)), HeTimes(1, 1, 1)

    async def scenario() -> None:
        experts = Experts(adapters, new=Counting(ValueError()))
        prompt, token = np.full((64, HIDDEN), 1.0, np.float32), np.full((1, HIDDEN), 2, np.float32)
        await asyncio.gather(
            experts.apply("x", prompt, use_he=True), experts.apply("x", token, use_he=True)
        )
        experts.close()

    if application.HE_AVAILABLE:
        asyncio.run(scenario())
        assert served.index(2) <= 2
        assert served.count(1) == 16


def test_experts_without_adapters_encrypt_nothing() -> None:
    experts = Experts()
    assert not experts.encrypts
    assert experts.keywords == {}
    experts.close()
