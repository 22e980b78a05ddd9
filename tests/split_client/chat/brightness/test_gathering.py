"""From messages to tokens and back, with a tokenizer whose tokens are characters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from split_client.chat.brightness.dimmest import dimmest, is_known
from split_client.chat.brightness.errors import BrightnessInvalid
from split_client.chat.brightness.formula import BORN, FALL
from split_client.chat.brightness.gathering import MOST_KEPT, Gathering, gathering
from split_client.chat.brightness.places import looks_of
from split_client.chat.brightness.rows import mode_of, row_of
from split_client.chat.brightness.runs import amended, kept, values_in
from split_client.chat.context.pruning import candidates
from split_client.chat.context.travelling import placed
from split_client.chat.message import Message
from split_client.model.token_pieces import Piece
from split_wire.attention import AttentionWeights

CHAT = (
    Message("user", "Hello."),
    Message("assistant", " One here. Two there. ", dropped=((10, 21),)),
    Message("user", "Now?"),
)


def pieces_for(chat: Sequence[Message]) -> tuple[str, list[Piece]]:
    """A control token around each message, else a token a character."""
    text = "".join(f"\x01{message.content}\x02" for _, message in placed(chat))
    pieces = [
        Piece("" if character in "\x01\x02" else character, at, at + 1)
        for at, character in enumerate(text)
    ]
    return text, pieces


def gathered(chat: tuple[Message, ...] = CHAT) -> tuple[str, Gathering]:
    text, pieces = pieces_for(chat)
    return text, gathering("last", chat, placed(chat), pieces)


def row(length: int, *positions: int) -> AttentionWeights:
    values = np.zeros(length, np.float32)
    values[list(positions)] = 1 / len(positions)
    return AttentionWeights(values[None, None])


def test_what_is_looked_at_grows_brighter_and_the_rest_fades() -> None:
    text, made = gathered()
    at = text.index("One")
    made.take(row(len(text), at, at + 1, at + 2), len(text))
    hello, reply, now = made.messages()
    assert set(values_in(hello.brightness, 6)) == {BORN - FALL}
    values = values_in(reply.brightness, len(reply.content))
    assert (values[1:4] > BORN).all()
    assert set(values[4:10]) == {BORN - FALL}
    assert now.brightness == ""


def test_what_did_not_travel_keeps_what_it_had() -> None:
    before = np.full(len(CHAT[1].content), 7, np.int64)
    chat = (CHAT[0], Message("assistant", CHAT[1].content, (), None, None, ((10, 21),), False,
                             kept(before)), CHAT[2])  # fmt: skip
    text, made = gathered(chat)
    made.take(row(len(text), 0), len(text))
    values = values_in(made.messages()[1].brightness, len(before))
    assert set(values[10:21]) == {7}
    assert set(values[1:10]) == {0}
    assert values[0] == 7


def test_the_current_turn_and_a_message_that_is_left_out_change_nothing() -> None:
    chat = (CHAT[0], Message("assistant", "Gone.", dropped=((0, 5),)), *CHAT[2:], CHAT[1], CHAT[2])
    text, made = gathered(chat)
    made.take(row(len(text), 0), len(text))
    assert [bool(each.brightness) for each in made.messages()] == [True, False, True, True, False]
    first = (Message("user", "Alone."),)
    text, made = gathered(first)
    made.take(row(len(text), 1), len(text))
    assert made.messages() == first
    assert not is_known(made.messages())


def test_the_same_messages_are_equal_whatever_has_looked_at_them() -> None:
    text, made = gathered()
    made.take(row(len(text), 1), len(text))
    assert made.messages() == CHAT
    assert is_known(made.messages())
    assert not is_known(CHAT)


def test_shares_go_to_the_parts_that_they_are_of() -> None:
    text, made = gathered()
    one, now = text.index("One"), text.index("Now")
    made.take(row(len(text), 0, one, now, now + 1), len(text))
    looks = looks_of(made)
    assert [(place.number, place.unit.start) for place in looks.places] == [(1, 0)]
    assert looks.places[0].share == pytest.approx(1 / 3, abs=1e-6)
    assert looks.turn == pytest.approx(2 / 3, abs=1e-6)


def test_rows_that_are_kept_have_a_bound() -> None:
    text, made = gathered()
    width = MOST_KEPT // 2
    for _ in range(3):
        made.rows.append(row_of("last", row(width, 0), width))
        made._weights += width
    made.take(row(len(text), 0), len(text))
    assert sum(len(each.shares) for each in made.rows) <= MOST_KEPT
    assert made._weights == sum(len(each.shares) for each in made.rows)


@pytest.mark.parametrize(
    ("values", "positions", "length", "words"),
    [
        ([[[0.5, 0.5]]], None, 3, "2 weights, and the context then was 3"),
        ([[[np.nan, 0.5]]], None, 2, "numbers from 0 to 1"),
        ([[[np.inf, 0.5]]], None, 2, "numbers from 0 to 1"),
        ([[[-0.1, 0.5]]], None, 2, "numbers from 0 to 1"),
        ([[[0.5, 0.5]]], [[[0, 2]]], 2, "below 2"),
        ([[[0.5, 0.5]]], [[[0, -1]]], 2, "below 2"),
        ([[[0.5, 0.5]]], [[[1, 1]]], 2, "twice"),
        ([[[0.5, 0.5]]], [[[1]]], 2, "a position for each"),
        ([[[]]], None, 0, "at least one"),
    ],
)
def test_a_row_that_is_none_changes_nothing(
    values: object, positions: object, length: int, words: str
) -> None:
    _, made = gathered()
    before = made.values.copy()
    places = None if positions is None else np.array(positions, np.int32)
    with pytest.raises(BrightnessInvalid, match=words):
        made.take(AttentionWeights(np.array(values, np.float32), places), length)
    assert (made.values == before).all()
    assert made.rows == []


def test_a_row_over_less_than_the_chat_is_refused() -> None:
    _, made = gathered()
    with pytest.raises(BrightnessInvalid, match="tells nothing"):
        made.take(row(3, 1), 3)


def test_a_mode_that_there_is_none_of_is_named() -> None:
    with pytest.raises(BrightnessInvalid, match="'median'"):
        mode_of("median")


def test_the_beginning_that_stays_keeps_its_brightness() -> None:
    text = kept(np.array([1, 2, 3, 4, 5], np.int64))
    assert values_in(amended(text, "abcde", "abXde"), 5).tolist() == [1, 2, BORN, BORN, BORN]
    assert values_in(amended(text, "abcde", "abc"), 3).tolist() == [1, 2, 3]
    assert amended("", "abcde", "abXde") == ""


def test_the_dimmest_go_first_and_of_equal_ones_the_oldest() -> None:
    text, made = gathered((CHAT[0], Message("assistant", "One here. Two there."), CHAT[2]))
    at = text.index("One")
    made.take(row(len(text), at, at + 1, at + 2), len(text))
    chat = (*made.messages(), Message("assistant", "So. And so."), Message("user", "Yes?"))
    order = [
        chat[at].content[unit.start : unit.stop] for at, unit in dimmest(chat, candidates(chat))
    ]
    # What the model said counts half: the person's own goes last, though nothing has looked at it.
    assert order[0] == "Two there."
    assert order[-2:] == ["One here. ", "Now?"]
    assert [each for each in order if each in ("So. ", "And so.")] == ["So. ", "And so."]


def test_where_nothing_was_looked_at_the_oldest_go_first() -> None:
    chat = (*CHAT[:1], Message("assistant", "One. Two."), Message("user", "Now?"), *CHAT[1:])
    assert dimmest(chat, candidates(chat)) == candidates(chat)
