"""The fields that noise is bound to."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from split_privacy import prf
from split_privacy.errors import InvalidDerivation
from split_privacy.prf import NO_HISTORY, NoiseContext, RowName, RowStreams, histories

CONTEXT = NoiseContext(bytes(range(32)), "embedding", 1.5, 2.0, "ab" * 32, "bf16")
ROW = RowName(3, 17, NO_HISTORY)


def words(context: NoiseContext = CONTEXT, row: RowName = ROW) -> list[int]:
    found: list[int] = RowStreams(context).words(row, 64).tolist()
    return found


def test_the_same_row_of_the_same_conversation_repeats_its_words() -> None:
    assert words() == words()
    assert words()[:8] == RowStreams(CONTEXT).words(ROW, 8).tolist()


@pytest.mark.parametrize(
    "change",
    [
        {"key": bytes(32)},
        {"layer": "hidden"},
        {"sigma": 1.5000000000000002},
        {"clip": 2.0000000000000004},
        {"model": "ac" * 32},
        {"codec": "f16"},
    ],
)
def test_every_field_of_the_context_changes_every_word(change: dict[str, object]) -> None:
    other = dataclasses.replace(CONTEXT, **change)  # type: ignore[arg-type]
    assert not set(words()) & set(words(other))


@pytest.mark.parametrize("constant", ["WIDTH", "BASE", "SPREAD"])
def test_every_constant_of_the_noise_changes_every_word(
    constant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Noise of another shape from the same words could be solved for the embedding."""
    before = words()
    monkeypatch.setattr(prf, constant, getattr(prf, constant) + 1)
    assert not set(before) & set(words())


@pytest.mark.parametrize("change", [{"position": 4}, {"token": 18}, {"history": b"\1" * 32}])
def test_every_field_of_a_row_changes_every_word(change: dict[str, object]) -> None:
    other = dataclasses.replace(ROW, **change)  # type: ignore[arg-type]
    assert not set(words()) & set(words(row=other))


def test_no_two_inputs_are_written_alike() -> None:
    moved = dataclasses.replace(CONTEXT, layer="embeddinga", model="b" + "ab" * 31)
    assert moved.encoded() != CONTEXT.encoded()
    shifted = dataclasses.replace(CONTEXT, model="ab" * 32 + "b", codec="f16")
    assert len({c.encoded() for c in (CONTEXT, moved, shifted)}) == 3


def test_words_further_bits_and_names_are_of_different_streams() -> None:
    streams = RowStreams(CONTEXT)
    first = streams.words(ROW, 24).tobytes()
    further = streams.more(ROW, 0, 192).to_bytes(24, "big")
    assert len({first[:16], further[:16], streams.name(ROW)}) == 3
    assert streams.more(ROW, 0, 192) != streams.more(ROW, 1, 192)
    assert streams.more(ROW, 0, 384) >> 192 == streams.more(ROW, 0, 192)


def test_a_history_is_that_of_all_tokens_before_and_of_no_later_one() -> None:
    left, right = histories([5, 6, 7, 8]), histories([5, 6, 9, 8])
    assert left[0] == NO_HISTORY
    assert left[:3] == right[:3]
    assert left[3] != right[3]
    assert len(set(left)) == 4


def test_words_are_uniform_bits() -> None:
    streams = RowStreams(CONTEXT)
    found = np.concatenate([streams.words(RowName(i, 1, NO_HISTORY), 256) for i in range(200)])
    ones = int(np.unpackbits(found.view(np.uint8)).sum())
    bits = found.size * 64
    assert abs(ones - bits / 2) < 5 * (bits / 4) ** 0.5


def test_a_context_shows_no_key_and_refuses_what_is_none() -> None:
    assert CONTEXT.key.hex() not in repr(CONTEXT)
    with pytest.raises(InvalidDerivation, match="32 bytes"):
        dataclasses.replace(CONTEXT, key=b"short")
    with pytest.raises(InvalidDerivation, match="sigma"):
        dataclasses.replace(CONTEXT, sigma=0.0)
