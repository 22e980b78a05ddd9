"""Shares count tokens over all messages, and a string only where all of its tokens are right."""

from __future__ import annotations

import pytest

from scripts.bench.outside.messages import Message
from scripts.bench.outside.score import score


def test_shares_of_tokens_strings_and_whole_messages() -> None:
    long, short = Message("", [1, 2, 3, 4, 5, 6], [(1, 3), (4, 6)]), Message("", [7, 8], [(0, 1)])
    found = score([(long, [1, 2, 3, 9, 9, 6]), (short, [7, 8])])
    assert found.tokens == pytest.approx(6 / 8)
    assert found.strings == pytest.approx(2 / 3)
    assert found.whole == pytest.approx(1 / 2)
    assert found.low == pytest.approx(4 / 6)
    assert found.high == pytest.approx(1.0)
