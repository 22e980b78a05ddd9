"""A chat: its messages, and the token ids that they became.

The ids of a reply are kept as the model generated them. A later prompt begins with the ids so far
wherever the rendered text begins with the text so far, so that a server's cache stays valid and
only new tokens travel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from split_client.chat.bound import TextBound
from split_client.errors import PromptEmpty


@dataclass(frozen=True, slots=True)
class Message:
    """``role``: system, user or assistant."""

    role: str
    content: str

    def as_dict(self) -> dict[str, str]:
        """As templates and files have it."""
        return {"role": self.role, "content": self.content}


class Renderer(Protocol):
    """A chat template."""

    def render(self, messages: list[dict[str, str]], *, add_generation_prompt: bool = True) -> str:
        """The prompt's text."""


class Encoder(Protocol):
    """A tokenizer."""

    def encode(self, text: str, *, add_special_tokens: bool = False) -> list[int]:
        """Ids of a text."""

    def encode_after(self, ids: list[int], text: str) -> list[int] | None:
        """Ids of ``text`` as it continues ``ids``, None where only the whole text can tell."""

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        """The text of ids."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A text whose ids are known."""

    text: str
    ids: list[int]


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt that a reply continues; ``revision`` tells whether the chat has moved on since."""

    text: str
    ids: list[int]
    revision: int


_KNOWN_TURNS = 16


class Conversation:
    """Messages in order; the last one is the user's while a reply is wanted.

    ``bound``: what refuses a chat that no context can hold, before it is rendered. ``on_anew`` is
    called when other messages take the place of all.
    """

    def __init__(
        self,
        template: Renderer,
        tokenizer: Encoder,
        system: str | None = None,
        bound: TextBound | None = None,
    ) -> None:
        self._template = template
        self._tokenizer = tokenizer
        self._bound = bound
        self._messages: list[Message] = []
        self._known: list[_Known] = []
        self._revision = 0
        self.on_anew: Callable[[], None] = lambda: None
        self.set_system(system)

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, the system's first if there is one."""
        return tuple(self._messages)

    @property
    def system(self) -> str | None:
        """The system message."""
        return self._messages[0].content if self._has_system() else None

    def set_system(self, content: str | None) -> None:
        """Set, replace or (None or empty) remove the system message."""
        if self._has_system():
            del self._changed()[0]
        if content:
            self._changed().insert(0, Message("system", content))

    def say(self, content: str) -> None:
        """Add a message of the user, in place of one that was never answered.

        Raises PromptEmpty.
        """
        if not content.strip():
            raise PromptEmpty
        if self._messages and self._messages[-1].role == "user":
            del self._changed()[-1]
        self._changed().append(Message("user", content))

    def prompt(self) -> Prompt:
        """The prompt of the next reply.

        Raises PromptEmpty, PromptTooLong, ChatTextTooLong, TemplateFailed, TemplateTooCostly.
        """
        if not self._messages or self._messages[-1].role == "assistant":
            raise PromptEmpty
        if self._bound is not None:
            self._bound.require(sum(len(message.content) for message in self._messages))
        text = self._template.render([message.as_dict() for message in self._messages])
        ids = self._encode(text)
        if not ids:
            raise PromptEmpty
        return Prompt(text, ids, self._revision)

    def reply(self, prompt: Prompt, content: str, ids: Iterable[int]) -> bool:
        """Add the model's answer to ``prompt``: its text and the ids it came as.

        False, and nothing is added, when the chat has moved on since.
        """
        if prompt.revision != self._revision:
            return False
        self._changed().append(Message("assistant", content))
        reply = list(ids)
        text = prompt.text + self._tokenizer.decode(reply, skip_special_tokens=False)
        # Turns that were taken back stay useful for a while, but not without bound.
        del self._known[:-_KNOWN_TURNS]
        self._known.append(_Known(text, prompt.ids + reply))
        return True

    def undo(self) -> str | None:
        """Take back the last message of the user and what followed; returns it, None if none."""
        for index in range(len(self._messages) - 1, -1, -1):
            if self._messages[index].role == "user":
                content = self._messages[index].content
                del self._changed()[index:]
                return content
        return None

    def drop_reply(self) -> bool:
        """Take back the last answer so that the model answers again; False if there is none."""
        if self._messages and self._messages[-1].role == "assistant":
            del self._changed()[-1]
        return bool(self._messages) and self._messages[-1].role == "user"

    def replace(self, messages: Iterable[Message]) -> None:
        """Continue from other messages, a saved chat for example."""
        self._changed()[:] = messages
        self._known = []
        self.on_anew()

    def clear(self) -> None:
        """Forget everything but the system message."""
        del self._changed()[1 if self._has_system() else 0 :]
        self._known = []
        self.on_anew()

    def _changed(self) -> list[Message]:
        """The messages, about to be changed."""
        self._revision += 1
        return self._messages

    def _has_system(self) -> bool:
        return bool(self._messages) and self._messages[0].role == "system"

    def _encode(self, text: str) -> list[int]:
        """Ids of ``text``, from the longest known beginning on."""
        for known in reversed(self._known):
            for start in self._beginnings(known):
                if text.startswith(start.text):
                    rest = self._tokenizer.encode_after(start.ids, text[len(start.text) :])
                    if rest is not None:
                        return start.ids + rest
        return self._tokenizer.encode(text)

    def _beginnings(self, known: _Known) -> list[_Known]:
        """The known text, and the same without its last token.

        A reply may end with another token than the one that the template closes a message with.
        """
        last = self._tokenizer.decode(known.ids[-1:], skip_special_tokens=False)
        if not last or not known.text.endswith(last):
            return [known]
        return [known, _Known(known.text[: -len(last)], known.ids[:-1])]
