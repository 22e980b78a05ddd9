"""A server sees noise of the level that was asked for, the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from scripts.bench.outside.channel import Channel
from scripts.bench.outside.messages import messages
from scripts.bench.outside.target import Target


@pytest.fixture(scope="module")
def target() -> Target:
    return Target.load("embedded")


def test_noise_has_the_level_in_every_value(target: Target) -> None:
    channel = Channel(target, 0.3, None, 0)
    tokens = list(range(100, 200))
    difference = channel.seen(tokens, 0) - channel.rows(tokens)
    assert difference.std() == pytest.approx(0.3 * channel.clip, rel=0.05)


def test_noise_is_another_for_another_message_and_seed_only(target: Target) -> None:
    tokens = [100, 101]
    first = Channel(target, 0.3, None, 0).seen(tokens, 0)
    assert np.array_equal(first, Channel(target, 0.3, None, 0).seen(tokens, 0))
    for seed, index in ((0, 1), (1, 0)):
        other = Channel(target, 0.3, None, seed).seen(tokens, index)
        assert (other != first).mean() > 0.9


def test_evidence_is_strongest_for_the_nearest_row_and_none_for_special_tokens(
    target: Target,
) -> None:
    channel = Channel(target, 0.01, None, 0)
    tokens = [100, 300, 1000]
    evidence = channel.evidence(channel.seen(tokens, 0))
    assert evidence.argmax(1).tolist() == tokens
    assert np.isneginf(evidence[:, list(target.special)]).all()


def test_every_message_is_its_tokens_and_its_strings_lie_within(target: Target) -> None:
    found = messages(target)
    assert len(found) == 60
    for message in found:
        assert target.tokenizer.decode(message.tokens) == message.text
        assert message.sensitive
        assert all(0 <= first < stop <= len(message.tokens) for first, stop in message.sensitive)
