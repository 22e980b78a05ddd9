"""Answers of ``/v1/responses``, whole and as a stream of numbered events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from split_client.tools.call import ToolCall
from split_server.compat.openai.errors import ApiError
from split_server.compat.openai.replies import Delta, Reply
from split_server.compat.openai.service import new_id
from split_server.compat.openai.token_texts import ScoredToken
from split_server.compat.openai.usage import Usage
from split_server.compat.responses.documents import (
    ResponseHead,
    call_item,
    message_item,
    scores,
    text_part,
)

Event = dict[str, Any]
# Is told the finished response, before its client is.
Finish = Callable[[dict[str, Any]], None]


class ResponsesAnswer:
    """``finish``: takes the document of the response, and may change what it says of its being
    kept; ``clock``: Unix time in seconds.
    """

    def __init__(self, head: ResponseHead, finish: Finish, clock: Callable[[], float]) -> None:
        self._head, self._finish, self._clock = head, finish, clock
        self._number = -1
        self._output: list[dict[str, Any]] = []
        # The message that is being written: its id and what there is of it.
        self._message = ""
        self._texts: list[str] = []
        self._tokens: list[ScoredToken] = []
        self._cut = False

    def whole(self, replies: Sequence[Reply], usage: Usage) -> dict[str, Any]:
        """The answer that is not streamed."""
        [reply] = replies
        status = _status(reply.finish)
        output = []
        if reply.text or not reply.calls:
            part = text_part(reply.text, reply.tokens)
            output.append(message_item(new_id("msg_"), status, [part]))
        output += [
            call_item(new_id("fc_"), "completed", call, call.arguments) for call in reply.calls
        ]
        return self._finished(status, output, usage)

    def opening(self, index: int) -> list[Event]:  # noqa: ARG002
        """The first events of a stream."""
        begun = self._head.document("in_progress")
        return [
            self._event("response.created", response=begun),
            self._event("response.in_progress", response=begun),
        ]

    def chunks(self, index: int, delta: Delta) -> list[Event]:  # noqa: ARG002
        """The events that ``delta`` adds."""
        events: list[Event] = []
        if delta.text or delta.tokens:
            events += self._written(delta)
        for call in delta.calls:
            events += [*self._end_message("completed"), *self._called(call)]
        if delta.finish:
            self._cut = _status(delta.finish) == "incomplete"
        return events

    def closing(self, usage: Usage) -> list[Event]:
        """The last events of a stream."""
        status = "incomplete" if self._cut else "completed"
        events = [] if self._message or self._output else self._begin_message()
        events += self._end_message(status)
        response = self._finished(status, self._output, usage)
        return [*events, self._event(f"response.{status}", response=response)]

    def failed(self, error: ApiError) -> list[Event]:
        """The last event of a stream that fails."""
        told = {"code": error.code, "message": error.message}
        response = self._head.document("failed", self._output, error=told)
        return [self._event("response.failed", response=response)]

    def _finished(
        self, status: str, output: Sequence[dict[str, Any]], usage: Usage
    ) -> dict[str, Any]:
        document = self._head.document(status, output, usage, finished=int(self._clock()))
        self._finish(document)
        return document

    def _written(self, delta: Delta) -> list[Event]:
        events = [] if self._message else self._begin_message()
        self._texts.append(delta.text)
        self._tokens += delta.tokens
        logprobs = scores(delta.tokens)
        place = self._place()
        return [
            *events,
            self._event("response.output_text.delta", **place, delta=delta.text, logprobs=logprobs),
        ]

    def _begin_message(self) -> list[Event]:
        self._message, self._texts, self._tokens = new_id("msg_"), [], []
        item = message_item(self._message, "in_progress")
        return [
            self._event("response.output_item.added", output_index=self._index, item=item),
            self._event("response.content_part.added", **self._place(), part=text_part("")),
        ]

    def _end_message(self, status: str) -> list[Event]:
        if not self._message:
            return []
        part = text_part("".join(self._texts), self._tokens)
        item, place = message_item(self._message, status, [part]), self._place()
        told = {"text": part["text"], "logprobs": part["logprobs"]}
        events = [
            self._event("response.output_text.done", **place, **told),
            self._event("response.content_part.done", **place, part=part),
            self._event("response.output_item.done", output_index=self._index, item=item),
        ]
        self._message = ""
        self._output.append(item)
        return events

    def _called(self, call: ToolCall) -> list[Event]:
        id_, index, text = new_id("fc_"), self._index, call.arguments
        place = {"item_id": id_, "output_index": index}
        whole = call_item(id_, "completed", call, text)
        begun = call_item(id_, "in_progress", call, "")
        events = [
            self._event("response.output_item.added", output_index=index, item=begun),
            self._event("response.function_call_arguments.delta", **place, delta=text),
            self._event(
                "response.function_call_arguments.done", **place, name=call.name, arguments=text
            ),
            self._event("response.output_item.done", output_index=index, item=whole),
        ]
        self._output.append(whole)
        return events

    @property
    def _index(self) -> int:
        """Of the item that is being written."""
        return len(self._output)

    def _place(self) -> dict[str, Any]:
        return {"item_id": self._message, "output_index": self._index, "content_index": 0}

    def _event(self, kind: str, **values: Any) -> Event:
        self._number += 1
        return {"type": kind, "sequence_number": self._number, **values}


def _status(finish: str) -> str:
    return "incomplete" if finish == "length" else "completed"
