from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from split_client.chat.brightness.formula import BORN
from split_client.chat.brightness.runs import kept, values_in
from split_client.chat.conversation import Conversation, Message, Prompt
from split_client.errors import PromptEmpty
from split_client.model.tokenizer import ModelTokenizer
from split_server.checkpoint.folder import EMBEDDED

TOKENIZER = ModelTokenizer.open(Path(EMBEDDED) / "tokenizer.json", 4096)
END = TOKENIZER.encode("<|im_end|>")


class ChatML:
    """The template in Python; ``trim`` is what some templates do to contents."""

    def __init__(self, trim: bool = False) -> None:
        self._trim = trim

    def render(self, messages: list[dict[str, str]], *, add_generation_prompt: bool = True) -> str:
        parts = []
        for message in messages:
            content = message["content"].strip() if self._trim else message["content"]
            parts.append(f"<|im_start|>{message['role']}\n{content}<|im_end|>\n")
        return "".join(parts) + ("<|im_start|>assistant\n" if add_generation_prompt else "")


def chat(system: str | None = None, trim: bool = False) -> Conversation:
    return Conversation(ChatML(trim), TOKENIZER, system)


def turn(conversation: Conversation, text: str, reply: list[int]) -> Prompt:
    """One turn in which the model says ``reply``."""
    conversation.say(text)
    prompt = conversation.prompt()
    conversation.reply(prompt, TOKENIZER.decode(reply), reply)
    return prompt


def spelled(text: str) -> list[int]:
    """Ids of ``text`` that encoding would not give: one per byte."""
    return [token for character in text for token in TOKENIZER.encode(character)]


def test_the_first_prompt_is_the_encoded_text() -> None:
    conversation = chat("Be brief.")
    conversation.say("Hello")
    prompt = conversation.prompt()
    assert prompt.ids == TOKENIZER.encode(prompt.text)
    assert prompt.text.startswith("<|im_start|>system\nBe brief.")


def test_a_later_prompt_continues_the_ids_as_they_were_generated() -> None:
    conversation = chat()
    reply = spelled("split inference")
    assert reply != TOKENIZER.encode("split inference")
    first = turn(conversation, "Hello", [*reply, *END])
    conversation.say("And?")
    second = conversation.prompt()
    known = first.ids + reply + END
    assert second.ids[: len(known)] == known
    assert TOKENIZER.decode(second.ids, skip_special_tokens=False) == second.text


def test_a_reply_without_its_end_token_is_continued_too() -> None:
    conversation = chat()
    reply = spelled("cut off")
    first = turn(conversation, "Hello", reply)
    conversation.say("Go on")
    second = conversation.prompt()
    assert second.ids[: len(first.ids) + len(reply)] == first.ids + reply
    assert TOKENIZER.decode(second.ids, skip_special_tokens=False) == second.text


def test_a_reply_that_ended_with_another_token_keeps_the_ids_before_it() -> None:
    conversation = chat()
    reply = spelled("fine")
    first = turn(conversation, "Hello", [*reply, *TOKENIZER.encode("<|endoftext|>")])
    conversation.say("And?")
    second = conversation.prompt()
    assert second.ids[: len(first.ids) + len(reply)] == first.ids + reply
    assert TOKENIZER.decode(second.ids, skip_special_tokens=False) == second.text


def test_a_text_that_the_template_changed_is_encoded_again() -> None:
    conversation = chat(trim=True)
    turn(conversation, "Hello", [*TOKENIZER.encode("fine \n"), *END])
    conversation.say("And?")
    second = conversation.prompt()
    assert second.ids == TOKENIZER.encode(second.text)


def test_an_undone_turn_leaves_the_ids_of_the_turns_before() -> None:
    conversation = chat()
    reply = [*spelled("first answer"), *END]
    first = turn(conversation, "One", reply)
    turn(conversation, "Two", [*spelled("second"), *END])
    assert conversation.undo() == "Two"
    conversation.say("Three")
    prompt = conversation.prompt()
    assert prompt.ids[: len(first.ids) + len(reply)] == first.ids + reply


def test_undo_takes_back_one_turn_at_a_time() -> None:
    conversation = chat("System")
    turn(conversation, "One", END)
    turn(conversation, "Two", END)
    assert [conversation.undo() for _ in range(3)] == ["Two", "One", None]
    assert conversation.messages == (Message("system", "System"),)


def test_a_dropped_reply_is_asked_for_with_the_same_prompt() -> None:
    conversation = chat()
    first = turn(conversation, "One", [*spelled("x"), *END])
    assert conversation.drop_reply()
    assert conversation.prompt().ids == first.ids
    conversation.clear()
    assert not conversation.drop_reply()


def test_a_reply_that_comes_too_late_is_left_out() -> None:
    conversation = chat()
    conversation.say("One")
    prompt = conversation.prompt()
    conversation.undo()
    conversation.say("Two")
    assert not conversation.reply(prompt, "late", END)
    assert conversation.messages == (Message("user", "Two"),)


def test_a_message_that_was_never_answered_is_replaced() -> None:
    conversation = chat()
    conversation.say("One")
    conversation.say("Two")
    assert conversation.messages == (Message("user", "Two"),)


def test_the_system_message_is_set_replaced_and_removed() -> None:
    conversation = chat()
    for content in ("A", "B", None):
        conversation.set_system(content)
        assert conversation.system == content
    assert conversation.messages == ()


def test_a_changed_system_message_makes_a_prompt_of_its_own() -> None:
    conversation = chat("A")
    turn(conversation, "One", END)
    conversation.set_system("B")
    conversation.say("Two")
    prompt = conversation.prompt()
    assert prompt.ids == TOKENIZER.encode(prompt.text)


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_message_is_refused(text: str) -> None:
    with pytest.raises(PromptEmpty):
        chat().say(text)


def test_a_chat_without_a_question_has_no_prompt() -> None:
    conversation = chat()
    with pytest.raises(PromptEmpty):
        conversation.prompt()
    turn(conversation, "One", END)
    with pytest.raises(PromptEmpty):
        conversation.prompt()


def test_another_history_is_continued() -> None:
    conversation = chat()
    turn(conversation, "One", END)
    conversation.replace([Message("user", "A"), Message("assistant", "B")])
    conversation.say("C")
    prompt = conversation.prompt()
    assert prompt.ids == TOKENIZER.encode(prompt.text)


_IDS = st.lists(st.integers(0, 2000), min_size=1, max_size=6)
# Characters that the tokenizer does not normalise.
_TEXT = st.text("ab ü東🙂\n", min_size=1, max_size=8)


@settings(max_examples=60)
@given(st.lists(st.tuples(_TEXT, _IDS, st.booleans()), max_size=4))
def test_the_ids_always_spell_the_rendered_text(
    turns: list[tuple[str, list[int], bool]],
) -> None:
    conversation = chat()
    for text, reply, ended in turns:
        if text.strip():
            prompt = turn(conversation, text, reply + (END if ended else []))
            assert TOKENIZER.decode(prompt.ids, skip_special_tokens=False) == prompt.text


def test_a_reply_that_goes_on_keeps_the_brightness_of_what_was_there() -> None:
    conversation = chat()
    first = TOKENIZER.encode("Paris is")
    turn(conversation, "The capital?", first)
    [asked, said] = conversation.messages
    bright = kept(np.arange(1, len(said.content) + 1))
    conversation.brighten([asked, replace(said, brightness=bright)])
    prompt = conversation.before_reply()
    conversation.reply(prompt, said.content + " large", [*first, *TOKENIZER.encode(" large")])
    values = values_in(conversation.messages[-1].brightness, len(said.content) + 6).tolist()
    assert values == [*range(1, len(said.content) + 1), *[BORN] * 6]


def noted(conversation: Conversation, *dropped: tuple[int, int]) -> None:
    """Have the last reply pinned, and these ranges of it left out."""
    *others, said = conversation.messages
    conversation.go_to([*others, replace(said, pinned=True, dropped=dropped)])


def test_a_reply_that_goes_on_stays_pinned_and_what_was_left_out_of_it_stays_so() -> None:
    conversation = chat()
    first = TOKENIZER.encode("One. Two.")
    turn(conversation, "Count.", first)
    noted(conversation, (0, 5))
    prompt = conversation.before_reply()
    conversation.reply(prompt, "One. Two. Three.", [*first, *TOKENIZER.encode(" Three.")])
    said = conversation.messages[-1]
    assert (said.pinned, said.dropped, said.left) == (True, ((0, 5),), "Two. Three.")


def test_a_reply_that_went_another_way_is_not_pinned() -> None:
    conversation = chat()
    first = TOKENIZER.encode("One. Two.")
    turn(conversation, "Count.", first)
    noted(conversation, (0, 5), (7, 9))
    conversation.reply(conversation.before_reply(), "One. Ten.", TOKENIZER.encode("One. Ten."))
    said = conversation.messages[-1]
    assert (said.pinned, said.dropped) == (False, ((0, 5),))


@pytest.mark.parametrize(
    ("content", "dropped", "left"),
    [
        ("One. Two. Four.", ((0, 5),), "Two. Four."),
        ("One.", (), "One."),
        ("Zero.", (), "Zero."),
        ("One. Two. Three. Four.", ((0, 5), (10, 16)), "Two.  Four."),
    ],
)
def test_a_reply_that_is_changed_has_no_place_left_out_that_it_does_not_have(
    content: str, dropped: tuple[tuple[int, int], ...], left: str
) -> None:
    conversation = chat()
    turn(conversation, "Count.", TOKENIZER.encode("One. Two. Three."))
    noted(conversation, (0, 5), (10, 16))
    conversation.amend(content)
    said = conversation.messages[-1]
    assert (said.pinned, said.dropped, said.left) == (True, dropped, left)
