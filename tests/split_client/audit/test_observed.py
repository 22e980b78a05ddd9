"""Facts that a server reads off a conversation's frames."""

from __future__ import annotations

import numpy as np
import pytest

from split_client.audit.attacks.lengths import identified, lengths
from split_client.audit.attacks.observed import observe
from split_client.audit.errors import RecordingInvalid
from split_client.audit.recording import Exchange
from split_wire.client import ClientProtocol
from split_wire.codec import encode_message
from split_wire.messages import Opened, Result
from split_wire.tensor import Tensor

HIDDEN = 4


def conversation(pieces: list[int]) -> tuple[Exchange, ...]:
    """Steps of so many rows; the row at position i is all i, and its state all i + 0.5."""
    protocol = ClientProtocol(HIDDEN, "m")
    opened = encode_message(Opened("s", "m", "f32", 512, 4096))
    exchanges = [Exchange(protocol.open(), opened, 0.0, 0.5)]
    protocol.receive(opened)
    start = 0
    for number, count in enumerate(pieces, 1):
        rows = np.repeat(np.arange(start, start + count, dtype=np.float32)[:, None], HIDDEN, 1)
        frame = protocol.step(start, rows)
        start += count
        answer = encode_message(Result("s", number, start, Tensor.from_f32(rows[-1:] + 0.5, "f32")))
        protocol.receive(answer)
        exchanges.append(Exchange(frame, answer, float(number), number + 0.25))
    return tuple(exchanges)


def test_prompt_and_reply_are_told_apart_and_counted() -> None:
    observed = observe(conversation([3, 2, 1, 1]))
    assert observed.prompt_rows[:, 0].tolist() == [0, 1, 2, 3, 4]
    assert observed.reply_states[:, 0].tolist() == [4.5, 5.5, 6.5]
    seen = lengths(observed, frame=2)
    assert (seen.prompt, seen.reply) == (3, 3)
    assert (seen.prefill, seen.device) == (1.25, 0.75)


def test_a_reply_that_was_never_asked_for_leaves_one_state() -> None:
    seen = lengths(observe(conversation([2])), frame=0)
    assert (seen.prompt, seen.reply, seen.device) == (2, 1, None)


def test_frames_without_answers_and_empty_recordings_are_no_conversation() -> None:
    lost = tuple(Exchange(one.sent, b"", one.began, one.ended) for one in conversation([2]))
    with pytest.raises(RecordingInvalid):
        observe(lost)
    with pytest.raises(RecordingInvalid):
        observe((Exchange(b"SPL1", b"junk", 0.0, 1.0),))


def test_a_length_that_several_messages_share_picks_one_at_random() -> None:
    assert identified([3, 5, 5], [3, 5, 5, 9]) == pytest.approx((1 + 0.5 + 0.5) / 3)
