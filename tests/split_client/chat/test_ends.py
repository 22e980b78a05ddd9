from __future__ import annotations

from split_client.chat.conversation import Conversation, Message
from split_client.chat.ends import ends_of


class Lines:
    """Template and tokenizer in one: a line for each message, a token per character."""

    def render(self, messages: list[dict[str, str]], **_: object) -> str:
        return "".join(f"{each['role'][0]}:{each['content']}\n" for each in messages) + "a:"

    def encode(self, text: str, **_: object) -> list[int]:
        return [ord(character) for character in text]

    def encode_after(self, ids: list[int], text: str) -> list[int] | None:
        return self.encode(text) if len(text) % 2 else None

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        return "".join(map(chr, ids))


def ends(*said: tuple[str, str]) -> list[str]:
    lines = Lines()
    messages = [Message(role, content) for role, content in said]
    return [lines.decode(end) for end in ends_of(messages, Conversation(lines, lines), lines)]


def test_every_reply_is_an_end_and_the_last_one_may_lack_its_last_token() -> None:
    assert ends(("user", "q"), ("assistant", "yes"), ("user", "r"), ("assistant", "no")) == [
        "u:q\na:yes\nu:r\na:no",
        "u:q\na:yes\nu:r\na:n",
        "u:q\na:yes",
    ]


def test_a_chat_without_a_reply_ended_nowhere() -> None:
    assert ends(("system", "s"), ("user", "q")) == []


def test_of_a_long_chat_the_last_replies_count() -> None:
    turns = [("user", "q"), ("assistant", "a")] * 40
    assert len(ends(*turns)) == 17
