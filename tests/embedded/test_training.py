"""Training is reproducible: the same seed gives the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from scripts.demo_model.training import pipeline
from scripts.demo_model.training.loop import TrainConfig
from scripts.demo_model.training.pipeline import digest, train_base
from tests.exhaustive import EXHAUSTIVE

CONVERSATIONS = pipeline.TOKENIZER_CONVERSATIONS if EXHAUSTIVE else 300
STEPS = 6 if EXHAUSTIVE else 2
SHORT = TrainConfig(
    seed=5, tokens=5_000 * STEPS, batch_tokens=1024, warmup=2, threads=1, max_steps=STEPS
)


@pytest.fixture
def _plain_torch_after() -> object:
    threads = torch.get_num_threads()
    yield
    torch.use_deterministic_algorithms(False)
    torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined]
    torch.set_num_threads(threads)


def _run(folder: Path, config: TrainConfig) -> list[str]:
    train_base(config, folder, lambda _line: None)
    return [digest(path) for path in sorted(folder.iterdir())]


@pytest.mark.slow
@pytest.mark.usefixtures("_plain_torch_after")
def test_two_short_runs_give_the_same_bytes_and_another_seed_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "TOKENIZER_CONVERSATIONS", CONVERSATIONS)
    first = _run(tmp_path / "first", SHORT)
    assert len(first) == 5
    assert _run(tmp_path / "second", SHORT) == first
    other = TrainConfig(**{**SHORT.__dict__, "seed": 6})
    assert _run(tmp_path / "other", other) != first
