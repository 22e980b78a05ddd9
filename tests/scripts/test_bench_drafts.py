"""Replies with drafts over the real engine are those of a token for each step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from scripts.bench.drafts.exact import device
from scripts.real.models.in_process import InProcess
from tests.exhaustive import EXHAUSTIVE

REPLIES = 3_000 if EXHAUSTIVE else 24
# Rows of longer steps differ from single ones by some 1e-5; logits that far apart are as good.
NEAR = 1e-4


def test_replies_differ_by_no_more_than_rounding() -> None:
    with device("float32") as one:
        found = one.compare(REPLIES)
    assert found.replies == REPLIES
    assert max(found.apart, default=0.0) < NEAR
    assert len(found.apart) <= 1 + found.tokens // 100_000
    assert found.accepted > found.replies


def test_a_state_that_is_taken_one_too_late_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = InProcess.step

    def late(*args: Any, **more: Any) -> Any:
        made = right(*args, **more)
        return replace(made, hidden=np.roll(made.hidden, -1, axis=0))

    monkeypatch.setattr(InProcess, "step", late)
    with device("float32") as one:
        found = one.compare(12)
    assert len(found.apart) > 6
    assert max(found.apart) > 100 * NEAR
