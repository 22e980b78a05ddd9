from __future__ import annotations

from typing import Any

from split_client.chat.conversation import Conversation
from split_client.chat.reply import Reply
from split_client.chat.session import ChatSession
from split_client.generation.loop import Event, Finished, TokenEvent, TokenTiming
from split_client.transport.base import Traffic
from split_wire.attention import AttentionRequest


class Letters:
    """Template and tokenizer in one: the last message, a token per character."""

    def render(self, messages: list[dict[str, str]], **_: object) -> str:
        return messages[-1]["content"]

    def encode(self, text: str, **_: object) -> list[int]:
        return [ord(character) for character in text]

    def encode_after(self, ids: list[int], text: str) -> list[int]:
        return self.encode(text)

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        return "".join(map(chr, ids))


class Maker:
    """Makes the same reply each time."""

    def __init__(self, events: list[Event]) -> None:
        self.events = events
        self.asked: list[tuple[object, ...]] = []

    def resume(self) -> None:
        """Nothing cancels these."""

    def reply(self, _sequence: object, prompt: list[int], *asked: object, **_: object) -> Reply:
        self.asked.append(asked)
        return Reply(iter(self.events), len(prompt), Traffic())


def chat(events: list[Event]) -> tuple[ChatSession, Maker]:
    letters, maker = Letters(), Maker(events)
    made: Any = (maker, Conversation(letters, letters), None)
    return ChatSession(*made), maker


ANSWER = TokenEvent(ord("a"), "a", 1.0, 1, TokenTiming(0.1, 0.05, 0, 0.01))


def test_a_reply_without_any_token_leaves_the_message_unanswered() -> None:
    session, maker = chat([Finished("cancelled", "")])
    session.send("hello").read()
    assert [message.role for message in session.messages] == ["user"]
    maker.events = [ANSWER, Finished("cancelled", "")]
    session.answer().read()
    assert [message.content for message in session.messages] == ["hello", "a"]


def test_the_attention_that_a_chat_is_set_to_is_asked_for() -> None:
    session, maker = chat([ANSWER, Finished("eos", "")])
    session.send("hello").read()
    session.attention = AttentionRequest("mean")
    session.answer().read()
    assert [asked[-1] for asked in maker.asked] == [None, AttentionRequest("mean")]


def test_a_chat_knows_the_tokens_of_the_reply_that_it_ends_with() -> None:
    session, _ = chat([ANSWER, Finished("eos", "")])
    assert session.answered is None
    session.send("hello").read()
    answered = session.answered
    assert answered is not None
    assert answered.messages == session.messages
    assert answered.ids == (*map(ord, "hello"), ord("a"))
    assert answered.prompt_tokens == 5


def test_a_chat_that_moved_on_ends_with_no_reply() -> None:
    session, _ = chat([ANSWER, Finished("eos", "")])
    session.send("hello").read()
    session.conversation.set_system("Be brief.")
    assert session.answered is None
    session.conversation.set_system(None)
    assert session.answered is not None
    session.conversation.undo()
    assert session.answered is None
