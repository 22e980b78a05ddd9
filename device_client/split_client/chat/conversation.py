"""A chat: its messages, and the token ids that they became.

The ids of a reply are kept as the model generated them. A later prompt begins with the ids so far
wherever the rendered text begins with the text so far, so that a server's cache stays valid and
only new tokens travel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from split_client.chat.as_written import AsWritten
from split_client.chat.bound import TextBound
from split_client.chat.context.travelling import travelling
from split_client.chat.message import Message, without_result
from split_client.chat.redacting.redaction import ChatRedaction
from split_client.chat.spelling import Encoder, Renderer, Spelling
from split_client.chat.steering.amending import amended_message
from split_client.chat.steering.errors import MessageNotRemoved, NothingToContinue
from split_client.chat.steering.prompt import Prompt
from split_client.chat.steering.removing import without
from split_client.chat.writing import written
from split_client.errors import PromptEmpty, TemplateFailed, TemplateTooCostly
from split_client.tools.call import ToolCall

__all__ = ["Conversation", "Encoder", "Message", "Prompt", "Renderer", "Spelling"]

# What is asked of a template is whether it takes the next message of the user.
_PROBE = Message("user", "?")
NO_RESULT = "error: this call was not run"


@dataclass(frozen=True, slots=True)
class _Known:
    """A text whose ids are known."""

    text: str
    ids: list[int]


_KNOWN_TURNS = 16


class Conversation:
    """Messages in order; the last one is the user's, or a tool's, while a reply is wanted.

    ``bound``: what refuses a chat that no context can hold, before it is rendered. ``tools``: those
    that the model is told of, in the form of OpenAI's API. ``on_anew`` are called when
    other messages take the place of all. ``redaction``: whatever the
    model is given of the chat has gone through it; None: one of its own, off until it is switched
    on, which forgets its map when other messages take the place of all.
    """

    def __init__(
        self,
        template: Renderer,
        tokenizer: Encoder,
        system: str | None = None,
        bound: TextBound | None = None,
        spelling: Spelling | None = None,
        redaction: ChatRedaction | None = None,
    ) -> None:
        self._template = template
        self._tokenizer = tokenizer
        self._bound = bound
        self._messages: list[Message] = []
        self._known: list[_Known] = []
        self._spelling = spelling or Spelling()
        self._as_written = AsWritten(self._spelling.ends)
        # The same definitions and results are part of every prompt.
        self._plain = lru_cache(maxsize=1024)(lambda text: tokenizer.plain(text))
        self.tools: tuple[dict[str, Any], ...] = ()
        self._revision = 0
        own = ChatRedaction(lambda text: len(tokenizer.encode(text)))
        self.redaction = redaction or own
        self.on_anew: list[Callable[[], None]] = [own.forget]
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
        for call in self.waiting:
            self.result(call, NO_RESULT)
        self._changed().append(Message("user", content))

    @property
    def waiting(self) -> list[ToolCall]:
        """Calls of the last reply that have no result yet."""
        return without_result(self.messages)

    def result(self, call: ToolCall, content: str) -> None:
        """Add the result of a call."""
        self._changed().append(Message("tool", content, (), call.id, call.name))

    def prompt(self) -> Prompt:
        """The prompt of the next reply.

        Raises PromptEmpty, PromptTooLong, ChatTextTooLong, TemplateFailed, TemplateTooCostly.
        """
        if not self._messages or self._messages[-1].role == "assistant":
            raise PromptEmpty
        return self._prompt_of(self._messages)

    def before_reply(self) -> Prompt:
        """The prompt that the newest reply answers.

        Raises NothingToContinue where the chat does not end with one, and as :meth:`prompt`.
        """
        if not self._messages or self._messages[-1].role != "assistant":
            raise NothingToContinue("the chat does not end with a reply")
        return self._prompt_of(self._messages[:-1])

    def spelled(self, prompt: Prompt, content: str) -> list[int]:
        """Ids of a reply to ``prompt`` that says ``content``."""
        content = self.redaction.text(content)
        ids = self._tokenizer.encode_after(prompt.ids, content)
        return self._tokenizer.encode(content) if ids is None else ids

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens that a chat of ``messages`` takes, and the beginning of its reply where the last
        of them wants one. Raises as :meth:`prompt`.
        """
        return len(self.ids_of(messages))

    def ids_of(self, messages: Sequence[Message]) -> list[int]:
        """The tokens themselves."""
        begin = bool(messages) and messages[-1].role in ("user", "tool")
        return self._prompt_of(messages, begin=begin).ids if messages else []

    def given_with(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """A chat as the model is given it, its last message, the reply, whole."""
        return self.redaction.given((*travelling(messages[:-1]), messages[-1]))

    def encoded(self, text: str) -> list[int]:
        """Ids of a text that stands alone."""
        return self._tokenizer.encode(text)

    def _prompt_of(self, messages: Sequence[Message], *, begin: bool = True) -> Prompt:
        sent = travelling(messages)
        if self._bound is not None:
            self._bound.require(sum(message.size for message in sent))
        rendered = self._render(sent, begin=begin)
        text = self._as_written.text(rendered)
        ids = self._encode(text)
        if not ids:
            raise PromptEmpty
        return Prompt(text, ids, self._revision, rendered)

    def reply(
        self, prompt: Prompt, content: str, ids: Iterable[int], calls: Sequence[ToolCall] = ()
    ) -> bool:
        """Add the model's answer to ``prompt``: its text, its calls, and the ids it came as; in
        place of the answer that it went on from.

        False, and nothing is added, when the chat has moved on since.
        """
        if prompt.revision != self._revision:
            return False
        said = Message("assistant", content)
        if self._messages[-1].role == "assistant":
            before = self._messages.pop()
            pinned = before.pinned and content.startswith(before.content)
            said = replace(amended_message(before, content), pinned=pinned)
        self._changed().append(replace(said, tool_calls=tuple(calls)))
        reply = list(ids)
        raw = self._tokenizer.decode(reply, skip_special_tokens=False)
        text = prompt.text + raw
        if calls:
            self._note_written(prompt, raw)
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
        return bool(self._messages) and self._messages[-1].role in ("user", "tool")

    def amend(self, content: str) -> None:
        """Have the last reply say ``content``. Raises NothingToContinue, PromptEmpty."""
        if not self._messages or self._messages[-1].role != "assistant":
            raise NothingToContinue("the chat does not end with a reply that could be changed")
        if not content.strip():
            raise PromptEmpty
        if content != self._messages[-1].content:
            self._changed()[-1] = amended_message(self._messages[-1], content)

    def remove(self, index: int) -> Message:
        """Take out one message, a reply with the results of its calls, and return it.

        Raises MessageNotRemoved where there is none, for the result of a call, and where the
        model's template refuses what is left; nothing is changed then.
        """
        left = without(self.messages, index)
        asks = left if left and left[-1].role in ("user", "tool") else (*left, _PROBE)
        try:
            self._render(travelling(asks))
        except TemplateFailed as error:
            raise MessageNotRemoved(
                f"the model's chat template does not take the chat without it ({error}); "
                "remove what it answers, or what answers it, first"
            ) from error
        removed = self._messages[index]
        self._changed()[:] = left
        return removed

    def brighten(self, messages: Sequence[Message]) -> None:
        """Have the first messages the brightness of ``messages``, where they are the same."""
        if tuple(messages) == self.messages[: len(messages)]:
            self._messages[: len(messages)] = messages

    def go_to(self, messages: Iterable[Message]) -> None:
        """Be an earlier state of this chat again, whose ids may be known."""
        self._changed()[:] = messages

    def replace(self, messages: Iterable[Message]) -> None:
        """Continue from other messages, a saved chat for example."""
        self._changed()[:] = messages
        self._begin_anew()

    def clear(self) -> None:
        """Forget everything but the system message."""
        del self._changed()[1 if self._has_system() else 0 :]
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._known = []
        self._as_written.forget()
        for told in self.on_anew:
            told()

    def _changed(self) -> list[Message]:
        """The messages, about to be changed."""
        self._revision += 1
        return self._messages

    def _has_system(self) -> bool:
        return bool(self._messages) and self._messages[0].role == "system"

    def _render(self, messages: Sequence[Message], *, begin: bool = True) -> str:
        given = self.redaction.given(messages)
        tools = self.redaction.tools(self.tools)
        made = written(given, tools, self._spelling.form, self._plain)
        if made.tools is None:
            return self._template.render(made.messages, add_generation_prompt=begin)
        return self._template.render(made.messages, tools=made.tools, add_generation_prompt=begin)

    def _note_written(self, prompt: Prompt, raw: str) -> None:
        """Learn how the template closes the reply ``raw``, the newest message, with its calls."""
        with suppress(TemplateFailed, TemplateTooCostly):
            rendered = self._render(travelling(self._messages), begin=False)
            self._as_written.note((prompt.rendered, prompt.text), rendered, raw)

    def _encode(self, text: str) -> list[int]:
        """Ids of ``text``, from the longest known beginning on."""
        for known in reversed(self._known):
            for start in self._beginnings(known):
                if text.startswith(start.text):
                    rest = self._continued(start.ids, text[len(start.text) :])
                    if rest is not None:
                        return start.ids + rest
        return self._continued([], text) or []

    def _continued(self, ids: list[int], text: str) -> list[int] | None:
        if self.tools or any(message.role == "tool" for message in self._messages):
            return self._tokenizer.encode_marked(ids, text)
        return self._tokenizer.encode_after(ids, text) if ids else self._tokenizer.encode(text)

    def _beginnings(self, known: _Known) -> list[_Known]:
        """The known text, and the same without its last token.

        A reply may end with another token than the one that the template closes a message with.
        """
        last = self._tokenizer.decode(known.ids[-1:], skip_special_tokens=False)
        if not last or not known.text.endswith(last):
            return [known]
        return [known, _Known(known.text[: -len(last)], known.ids[:-1])]
