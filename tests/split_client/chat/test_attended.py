from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from split_client.chat.attended import Attended, Passage, Transcript
from split_client.chat.conversation import Message
from split_client.model.token_pieces import pieces_of
from split_wire.attention import AttentionWeights
from tests.split_client.generation.test_detokenizer import byte_level

START, END = "<|im_start|>", "<|im_end|>"


def chatml() -> Tokenizer:
    tokenizer = byte_level()
    tokenizer.add_special_tokens([START, END])
    return tokenizer


@dataclass
class Chat:
    """A chat in ChatML, a token per byte; ``own[i]`` are the positions of message i's text."""

    messages: list[Message]
    ids: list[int]
    prompt_tokens: int
    own: list[list[int]]

    @classmethod
    def of(cls, *turns: tuple[str, str], after: str = END, shown: str | None = None) -> Chat:
        """``after``: what the model generated behind its reply; ``shown``: the reply as kept."""
        tokenizer, ids, own = chatml(), list[int](), list[list[int]]()
        prompt = 0
        for role, text in turns:
            ids += tokenizer.encode(f"{START}{role}\n").ids
            prompt = len(ids)
            ids += tokenizer.encode(text).ids
            own.append(list(range(prompt, len(ids))))
            ids += tokenizer.encode(END + "\n").ids
        del ids[own[-1][-1] + 1 :]
        ids += tokenizer.encode(after).ids
        messages = [Message(role, text) for role, text in turns]
        if shown is not None:
            messages[-1] = Message("assistant", shown)
        return cls(messages, ids, prompt, own)

    def transcript(self) -> Transcript:
        return Transcript(pieces_of(chatml(), self.ids), self.prompt_tokens, self.messages)


def falling(positions: int) -> AttentionWeights:
    """Two layers of two heads whose mean is different at every position and sums to 1."""
    row = np.arange(positions, 0, -1) / (positions * (positions + 1) / 2)
    heads = np.stack([row * 0.5, row * 1.5]).astype(np.float32)
    return AttentionWeights(np.stack([heads, heads]))


def mean(weights: AttentionWeights) -> list[float]:
    return [float(weight) for weight in weights.values.mean((0, 1))]


def shares(passage: Passage) -> float:
    return sum(span.weight or 0.0 for span in passage.spans)


def text_of(passage: Passage) -> str:
    return "".join(span.text for span in passage.spans)


words = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=20
).filter(lambda text: text == text.strip() and len(text) > 0)


@given(words, words, words)
def test_every_weight_lands_on_the_text_of_its_token(
    system: str, question: str, answer: str
) -> None:
    chat = Chat.of(("system", system), ("user", question), ("assistant", answer))
    transcript = chat.transcript()
    assert transcript.read == chat.own[-1][-1] + 1
    weights = falling(transcript.read)
    attended = transcript.attended(weights)
    row = mean(weights)
    assert list(map(text_of, attended.passages)) == [system, question, answer]
    for passage, own in zip(attended.passages, chat.own, strict=True):
        assert shares(passage) == pytest.approx(sum(row[i] for i in own), abs=1e-6)
    told = sum(map(shares, attended.passages))
    assert attended.first == pytest.approx(row[0])
    assert attended.first + attended.template + told == pytest.approx(1.0)


def test_one_span_is_one_token_unless_they_share_a_character() -> None:
    chat = Chat.of(("user", "a€"), ("assistant", "ok"))
    weights = falling(chat.transcript().read)
    spans = chat.transcript().attended(weights).passages[0].spans
    row, own = mean(weights), chat.own[0]
    assert [span.text for span in spans] == ["a", "€"]
    assert spans[0].weight == pytest.approx(row[own[0]])
    assert spans[1].weight == pytest.approx(sum(row[i] for i in own[1:]))


@pytest.mark.parametrize("question", ["user", "assistant", "a", "\\", "s"])
def test_a_short_message_is_not_taken_for_the_template_around_it(question: str) -> None:
    chat = Chat.of(("system", "Be a user."), ("user", question), ("assistant", "yes"))
    weights = falling(chat.transcript().read)
    passage = chat.transcript().attended(weights).passages[1]
    row = mean(weights)
    assert shares(passage) == pytest.approx(sum(row[i] for i in chat.own[1]))


def test_the_newest_token_is_the_last_of_the_reply_that_is_shown() -> None:
    chat = Chat.of(("user", "hi"), ("assistant", "yes. "), after="STOP", shown="yes. ")
    transcript = chat.transcript()
    assert transcript.read == chat.own[-1][-1] + 1
    attended = transcript.attended(falling(transcript.read))
    assert attended.newest == " "
    assert text_of(attended.passages[-1]) == "yes."


def test_white_space_that_the_template_takes_away_is_left_out() -> None:
    chat = Chat.of(("user", "hi"), ("assistant", "yes"))
    chat.messages[0] = Message("user", "\n hi ")
    attended = chat.transcript().attended(falling(chat.transcript().read))
    assert text_of(attended.passages[0]) == "hi"
    assert shares(attended.passages[0]) > 0


def test_a_message_that_the_template_changed_is_shown_without_weights() -> None:
    chat = Chat.of(("user", "one"), ("assistant", "two"), ("user", "three"), ("assistant", "four"))
    chat.messages[1] = Message("assistant", "<think>so</think>two")
    attended = chat.transcript().attended(falling(chat.transcript().read))
    assert [text_of(passage) for passage in attended.passages] == [
        "one",
        "<think>so</think>two",
        "three",
        "four",
    ]
    assert [span.weight for span in attended.passages[1].spans] == [None]
    assert all(shares(attended.passages[i]) > 0 for i in (0, 2, 3))


def test_tokens_that_the_context_had_no_room_for_have_no_weight() -> None:
    chat = Chat.of(("user", "hi"), ("assistant", "abc"))
    attended = chat.transcript().attended(falling(chat.transcript().read - 1))
    assert attended.newest == "b"
    assert [span.weight is None for span in attended.passages[-1].spans] == [False, False, True]


def test_a_reply_without_text_has_no_newest_token() -> None:
    chat = Chat.of(("user", "hi"), ("assistant", "x"))
    del chat.ids[chat.prompt_tokens :]
    chat.messages[-1] = Message("assistant", "")
    chat.ids += chatml().encode(END).ids
    assert chat.transcript().read == 0


def test_the_first_position_counts_for_no_text() -> None:
    tokenizer = byte_level()
    ids = tokenizer.encode("abc").ids
    messages = [Message("user", "ab"), Message("assistant", "c")]
    transcript = Transcript(pieces_of(tokenizer, ids), 2, messages)
    attended = transcript.attended(AttentionWeights(np.array([[[0.7, 0.2, 0.1]]], np.float32)))
    assert attended.first == pytest.approx(0.7)
    assert [span.weight for span in attended.passages[0].spans] == pytest.approx([0.0, 0.2])
    assert attended.strongest == pytest.approx(0.2)
    assert attended.most(5) == [("b", pytest.approx(0.2)), ("c", pytest.approx(0.1))]


def test_a_server_that_sends_zeros_makes_nothing_bright() -> None:
    chat = Chat.of(("user", "hi"), ("assistant", "ok"))
    zeros = AttentionWeights(np.zeros((2, 1, chat.transcript().read), np.float32))
    attended: Attended = chat.transcript().attended(zeros)
    assert (attended.strongest, attended.most(3)) == (0.0, [])
