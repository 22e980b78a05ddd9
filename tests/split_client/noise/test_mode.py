"""Noised mode as one client has it: what it promises in words, and what it refuses to begin."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from split_client.generation.sampling.params import SamplingParams
from split_client.noise import calibration, device
from split_client.noise.calibration import Calibration
from split_client.noise.errors import BudgetExhausted, NoiseForbids, NoiseSettingInvalid
from split_client.noise.mode import NoiseMode
from split_client.noise.rules import (
    require_blind_adapter,
    require_blind_sampling,
    without_penalty,
)
from split_client.noise.settings import NoiseSettings
from split_client.noise.words import mechanism_lines
from split_privacy.gaussian import epsilon_of
from split_privacy.mechanism import RowMechanism
from tests.split_client.noise.tables import MODEL, table


def mode(folder: Path, penalty: float = 1.0, **settings: Any) -> NoiseMode:
    stored: Any = SimpleNamespace(manifest=SimpleNamespace(digest=MODEL), folder=folder)
    asked = NoiseSettings(ledger=folder / "state" / "ledger.json", **settings)
    return NoiseMode.open(asked, table(), stored, penalty)


def test_an_epsilon_is_that_of_one_token_at_the_tables_own_sensitivity(tmp_path: Path) -> None:
    opened = mode(tmp_path, epsilon=2.0, delta=1e-6, clip=3.0)
    mechanism = opened.mechanism
    assert opened.calibration.sensitivity < 6.0
    assert epsilon_of(1e-6, opened.calibration.sensitivity / mechanism.sigma) < 2.0
    assert mechanism.epsilon(1e-6) == pytest.approx(2.0, abs=1e-6)


def test_every_epsilon_is_told_with_its_unit_and_delta(tmp_path: Path) -> None:
    opened = mode(tmp_path, epsilon=2.0, budget_epsilon=50.0)
    conversation = opened.conversation()
    conversation.rows(list(range(10)), 0, 10, "f32")
    conversation.rows([1, 2, 3], 0, 3, "f32")
    lines = opened.lines(conversation)
    whole = opened.mechanism.epsilon(1e-5, 13)
    assert "one token replaced, sent up to 2 times: epsilon" in lines[2]
    assert lines[2].endswith(f"all 13 rows replaced: epsilon {whole:.2f}")
    assert lines[2].startswith("this conversation so far, for texts of these lengths, delta 1e-05")
    assert lines[3].startswith(
        "all that the ledger of 'default' counts, for texts of these lengths, delta 1e-05: "
    )
    assert lines[4].startswith("budget 50.00 for everything replaced, delta 1e-05: ")
    assert lines[-1].startswith("the server sees the noised rows; split-client audit measures what")
    assert lines[-1].endswith("and better attacks recover more")
    for line in lines:
        assert "epsilon" not in line or "delta" in line


def test_a_ledger_that_another_device_wrote_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = mode(tmp_path, epsilon=2.0)
    monkeypatch.setattr(device, "device_id", lambda: "aa" * 16)
    opened.conversation().rows([1, 2], 0, 2, "f32")
    assert not any("another device" in line for line in opened.lines(None))
    monkeypatch.setattr(device, "device_id", lambda: "bb" * 16)
    assert any("another device" in line for line in opened.lines(None))


def test_which_sensitivity_it_is_and_that_too_little_noise_promises_nothing_is_said() -> None:
    bound = mechanism_lines(RowMechanism(1.0, 2.0, 4.0, 8), Calibration(2.0, 4.0, False), 1e-5)
    assert "sensitivity 4 (a bound on the distance of two clipped rows" in bound[1]
    little = RowMechanism(1e-3, 2.0, 4.0, 8)
    assert "without bound" in mechanism_lines(little, Calibration(2.0, 4.0, True), 1e-5)[1]


def test_a_client_without_room_for_one_row_does_not_begin(tmp_path: Path) -> None:
    with pytest.raises(BudgetExhausted):
        mode(tmp_path, epsilon=2.0, budget_epsilon=1.0)


def test_noise_that_cannot_be_made_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(NoiseSettingInvalid, match="sigma"):
        mode(tmp_path, sigma=1e-12)
    with pytest.raises(NoiseSettingInvalid, match="epsilon"):
        mode(tmp_path, epsilon=1e-9, delta=1e-12)


def test_the_models_own_penalty_is_off_and_that_is_said(tmp_path: Path) -> None:
    own = SamplingParams(temperature=0.5, repetition_penalty=1.2)
    assert without_penalty(own) == SamplingParams(temperature=0.5)
    opened = mode(tmp_path, penalty=1.2, sigma=5.0)
    assert any("repetition penalty (1.2) is off" in line for line in opened.lines(None))
    assert not any("penalty" in line for line in mode(tmp_path, sigma=5.0).lines(None))


def test_what_looks_at_the_prompt_is_refused_and_what_looks_at_the_reply_is_not() -> None:
    require_blind_sampling(SamplingParams(presence_penalty=1.0, frequency_penalty=1.0, seed=3))
    require_blind_adapter("banking")
    require_blind_adapter(None)
    with pytest.raises(NoiseForbids, match="set it to 1"):
        require_blind_sampling(SamplingParams(repetition_penalty=1.05))
    with pytest.raises(NoiseForbids, match="name the adapter"):
        require_blind_adapter("auto")


def test_a_second_start_searches_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = mode(tmp_path, epsilon=2.0).calibration
    monkeypatch.setattr(calibration, "largest_distance", None)
    assert mode(tmp_path, epsilon=2.0).calibration == first
