"""Replies with drafts over the real engine are those of a token for each step."""

from __future__ import annotations

from scripts.bench.drafts.exact import device
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
