"""The redaction of one chat: the only way from what is kept of it to what the model is given."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from split_client.chat.message import Message
from split_client.chat.redacting.reply import Reply
from split_client.chat.redacting.schemas import (
    every_text,
    redacted_document,
    redacted_form,
    redacted_tool,
)
from split_client.grammar.form import JSON_FORMS, Form
from split_client.redaction.document import MOST_REPLIES, RedactionDocument
from split_client.redaction.entries import Entry
from split_client.redaction.passing import Replaced
from split_client.redaction.redactor import Redactor
from split_client.redaction.settings import RedactionSettings
from split_client.redaction.surrogates.making import CountTokens
from split_client.redaction.undoing.beginnings import Beginnings
from split_client.redaction.undoing.stream import Undo
from split_client.tools.call import ToolCall
from split_client.tools.tool import Tool

_MOST_SENT: Final = 4096


class ChatRedaction:
    """Off until it is switched on; the map then stays with the chat, also where it is switched off
    again. ``count``: tokens of a text.

    What has gone out of a text stays as it went while the settings stay, so that a chat that goes
    on sends new tokens alone. What goes out raises RedactionExhausted.
    """

    def __init__(self, count: CountTokens, settings: RedactionSettings | None = None) -> None:
        self._count = count
        self._redactor: Redactor | None = None
        self._beginnings: Beginnings | None = None
        self._chat: tuple[str, ...] = ()
        self._sent: OrderedDict[str, str] = OrderedDict()
        self._replies: OrderedDict[str, str] = OrderedDict()
        self._unsure = set[str]()
        self.on = False
        if settings is not None:
            self.switch(settings)

    @property
    def settings(self) -> RedactionSettings | None:
        """Those that it has, or had when it was on last."""
        return None if self._redactor is None else self._redactor.settings

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The map."""
        return () if self._redactor is None else tuple(self._redactor.entries)

    def switch(self, settings: RedactionSettings | None) -> None:
        """On with these settings, or off (None)."""
        self.on = settings is not None
        # Other rules may find more, also in what went out before.
        self._sent.clear()
        if settings is None:
            return
        if self._redactor is None:
            self._be(Redactor(settings, count=self._count))
        else:
            self._redactor.settings = settings

    def forget(self) -> None:
        """Another chat begins: with another map, and the same settings."""
        settings = self.settings
        self._redactor, self._beginnings, self._chat = None, None, ()
        self._sent.clear()
        self._replies.clear()
        self._unsure.clear()
        if settings is not None and self.on:
            self._be(Redactor(settings, count=self._count))

    def given(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """The messages as the model is given them; without redaction the same."""
        if not self.on:
            return tuple(messages)
        self._chat = tuple(_texts_of(messages))
        return tuple(self._message(message) for message in messages)

    def text(self, text: str) -> str:
        """A text as it goes out."""
        if not self.on or self._redactor is None or not text:
            return text
        self._make_sure(text)
        for known in (self._replies, self._sent):
            if text in known:
                known.move_to_end(text)
                return known[text]
        made = self._redactor.redacted(text, self._chat)
        _keep(self._sent, text, made, _MOST_SENT)
        return made

    def preview(self, text: str) -> tuple[str, list[Replaced]]:
        """What would go out for a text, and what of it are surrogates; nothing is changed."""
        if self._redactor is None:
            return text, []
        return self._redactor.preview(text, self._chat)

    def form(self, form: Form | None) -> Form | None:
        """The form of a reply, as the model writes it."""
        return redacted_form(form, self.text) if self.on and form is not None else form

    def tools(self, documents: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
        """Definitions of tools as the template gets them."""
        if not self.on:
            return tuple(dict(document) for document in documents)
        return tuple(redacted_document(document, self.text) for document in documents)

    def tool(self, tool: Tool) -> Tool:
        """A tool as calls of it are held to."""
        return redacted_tool(tool, self.text) if self.on else tool

    def undo(self, form: Form | None = None) -> Undo | None:
        """What takes surrogates out of a reply, of that form; None without redaction."""
        redactor = self._redactor
        if redactor is None or not self.on:
            return None
        spoken = _in_json if isinstance(form, JSON_FORMS) else _plain
        regions = redactor.settings.regions
        return Undo(redactor.surrogates, regions, spoken, self._beginnings)

    def undone(self, text: str) -> str:
        """A whole text of the model's as a person reads it."""
        undo = self.undo()
        return text if undo is None else undo.push(text) + undo.finish()

    def value(self, value: Any) -> Any:
        """A JSON value of the model's with its texts undone."""
        return every_text(value, self.undone) if self.on else value

    def call(self, call: ToolCall) -> ToolCall:
        """A call with its arguments undone, for whoever is asked about it."""
        if not self.on:
            return call
        values = self.value(call.values())
        return replace(call, arguments=json.dumps(values, ensure_ascii=False))

    def note(self, text: str, written: str) -> None:
        """The model has written what became ``text``, which goes out as it was written."""
        if self.on and text:
            self._unsure.discard(text)
            self._unsure -= _keep(self._replies, text, written, MOST_REPLIES)

    def note_reply(self, reply: Reply) -> None:
        """:meth:`note` of a reply that is whole, and of its calls, which are kept as written."""
        self.note(reply.beginning + reply.text, reply.written)
        for call in reply.calls:
            self.note(call.arguments, call.arguments)

    def document(self) -> RedactionDocument | None:
        """To be saved with the chat; None where it never was on."""
        redactor = self._redactor
        if redactor is None:
            return None
        replies = tuple(self._replies.items())
        return RedactionDocument(
            self.on, redactor.settings, redactor.secret, tuple(redactor.entries), replies
        )

    def load(self, document: RedactionDocument | None) -> None:
        """Go on with the map of a chat that was saved, on where it was; None: it has none, and what
        is set stays.
        """
        if document is None:
            return
        settings, on = document.settings, self.on
        if on and self.settings is not None:
            settings = settings.with_those_of(self.settings)
        self._sent.clear()
        self._be(Redactor(settings, document.secret, document.entries, self._count))
        self._replies = OrderedDict(document.replies)
        self._unsure = {*self._replies}
        self.on = on or document.on

    def _make_sure(self, text: str) -> None:
        """A reply of a file that is not what it says to have been written as is any text."""
        if text in self._unsure:
            self._unsure.remove(text)
            written = self._replies[text]
            # Arguments of calls are kept as they were written.
            if written != text and self.undone(written) != text:
                del self._replies[text]

    def _be(self, redactor: Redactor) -> None:
        self._redactor, self._beginnings = redactor, Beginnings(redactor.surrogates)

    def _message(self, message: Message) -> Message:
        content = self.text(message.content)
        calls = tuple(self._out(call) for call in message.tool_calls)
        if content == message.content and calls == message.tool_calls:
            return message
        return replace(message, content=content, tool_calls=calls, brightness="")

    def _out(self, call: ToolCall) -> ToolCall:
        """A call as it was written; one of another chat's history is redacted."""
        self._make_sure(call.arguments)
        written = self._replies.get(call.arguments)
        if written is not None:
            return replace(call, arguments=written)
        values = every_text(call.values(), self.text)
        if values == call.values():
            return call
        return replace(call, arguments=json.dumps(values, ensure_ascii=False))


def _texts_of(messages: Iterable[Message]) -> Iterable[str]:
    for message in messages:
        yield message.content
        yield from (call.arguments for call in message.tool_calls)


def _keep(known: OrderedDict[str, str], text: str, made: str, most: int) -> set[str]:
    """Returns the oldest ones, which are kept no more."""
    gone = set[str]()
    known[text] = made
    known.move_to_end(text)
    while len(known) > most:
        gone.add(known.popitem(last=False)[0])
    return gone


def _plain(value: str) -> str:
    return value


def _in_json(value: str) -> str:
    """Within quotation marks."""
    return json.dumps(value, ensure_ascii=False)[1:-1]
