"""Documents for Kobold clients: token, done and error events, the answer to a whole generation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from split_client.generation.detokenizer import Decoder
from split_client.generation.loop import TokenEvent
from split_server.compat.kobold.attention import json_rows
from split_server.compat.kobold.errors import KoboldError
from split_server.compat.kobold.pieces import token_text
from split_server.compat.kobold.pruning import Pruning
from split_server.compat.kobold.request import KoboldRequest
from split_server.compat.kobold.running import Ended, Token


class Documents:
    """The events of one ``request``; ``decoder`` gives the texts of likely tokens, ``pruning`` what
    could be left out of its prompt, where that is asked for.
    """

    def __init__(
        self, request: KoboldRequest, decoder: Decoder, pruning: Pruning | None = None
    ) -> None:
        self.request, self._pruning = request, pruning
        self._decoder = decoder
        self._echo = {} if request.name is None else {"request_id": request.name}
        self._classic = isinstance(request.prompt, str) and request.attention is None

    def token(self, item: Token) -> bytes:
        """A token of ``/api/v1/generate/stream``, with its attention in base64."""
        document = {"type": "token", **self._of(item.sample), "token": self.facts(item.event)}
        return self._with_attention(document, item.event)

    def flat_token(self, item: Token) -> bytes:
        """The text frame before a binary one: the token's fields beside ``type``."""
        document = {"type": "token", **self.facts(item.event), **self._of(item.sample)}
        return json.dumps(document).encode()

    def sse_token(self, item: Token) -> bytes:
        """A token of a stream of server-sent events: flat, and once more as ``token``.

        For a client that sends text and wants no attention ``token`` is the text, as Kobold's own
        streams have it.
        """
        facts = self.facts(item.event)
        token = facts["text"] if self._classic else facts
        document = {"type": "token", **facts, **self._of(item.sample), "token": token}
        return self._with_attention(document, item.event)

    def sse_event(self, event: bytes) -> bytes:
        """An event that is no token, for a stream of server-sent events.

        Kobold's own clients add the ``token`` of every event to the text, so that each has one.
        """
        return event[:-1] + b', "token": ""}' if self._classic else event

    def ended(self, ends: Sequence[Ended]) -> bytes:
        """The last event, once all samples have ended: ``done`` comes once.

        Of several samples it has the first one's reason, all tokens and the longest time.
        """
        document = _end(ends[0])
        document["total_tokens"] = sum(end.tokens for end in ends)
        document["generation_time_ms"] = max(_milliseconds(end) for end in ends)
        return json.dumps({"type": "done", **self._echo, **document}).encode()

    def look(self, item: Token) -> None:
        """Take in what a token of the first sample looked at."""
        if self._pruning is not None and item.sample == 0:
            self._pruning.take(item.event)

    def suggested(self) -> bytes | None:
        """The event before the last one, None where nothing is to be suggested."""
        return None if self._pruning is None else self._pruning.encoded(self._echo)

    def sample_ended(self, end: Ended) -> bytes | None:
        """The end of one of several samples, None where there is only one."""
        if self.request.samples == 1:
            return None
        document = {"type": "sample_done", **self._of(end.sample), **_end(end)}
        return json.dumps(document).encode()

    def facts(self, event: TokenEvent) -> dict[str, Any]:
        """Id, text, and log-probabilities where they were asked for."""
        facts: dict[str, Any] = {"token_id": event.token, "text": event.text}
        if event.logprobs is not None:
            facts["logprob"] = event.logprobs.logprob
            if event.logprobs.top:
                facts["top_logprobs"] = [
                    {
                        "token_id": token,
                        "text": token_text(self._decoder, token),
                        "logprob": logprob,
                    }
                    for token, logprob in event.logprobs.top
                ]
        return facts

    def _of(self, sample: int) -> dict[str, Any]:
        return self._echo if self.request.samples == 1 else {**self._echo, "sample": sample}

    def _with_attention(self, document: dict[str, Any], event: TokenEvent) -> bytes:
        head = json.dumps(document).encode()
        if self.request.attention is None or event.attention is None:
            return head
        rows = json_rows(self.request.attention, event.attention)
        return b"".join((head[:-1], b', "attention": ', rows, b"}"))


@dataclass(slots=True)
class Collected:
    """One sample of an answer that is sent as a whole; rows are encoded as they come."""

    tokens: list[dict[str, Any]] = field(default_factory=list)
    rows: list[bytes] = field(default_factory=list)
    end: Ended | None = None


def answer(documents: Documents, samples: Sequence[Collected]) -> bytes:
    """The answer of ``POST /api/v1/generate``: the first sample's fields, all samples' results."""
    name = documents.request.name
    document: dict[str, Any] = {} if name is None else {"request_id": name}
    document["results"] = [_result(sample) for sample in samples]
    parts = [json.dumps(document)[:-1].encode(), b", ", _sample(samples[0])]
    if len(samples) > 1:
        bodies = b", ".join(b"{" + _sample(sample) + b"}" for sample in samples)
        parts += [b', "samples": [', bodies, b"]"]
    return b"".join((*parts, b"}"))


def error_event(error: KoboldError, name: str | None) -> bytes:
    """An error event; ``name``: the request's, None where it has none or was not understood."""
    echo = {} if name is None else {"request_id": name}
    return json.dumps({**error.document(), **echo}).encode()


def _result(sample: Collected) -> dict[str, Any]:
    reason = None if sample.end is None else sample.end.reason
    return {"text": _text(sample), "finish_reason": reason, "completion_tokens": len(sample.tokens)}


def _text(sample: Collected) -> str:
    return "".join(token["text"] for token in sample.tokens)


def _sample(sample: Collected) -> bytes:
    """The fields of one sample, without braces."""
    document = {"generated_tokens": sample.tokens, "generated_text": _text(sample)}
    if sample.end is not None:
        document |= _end(sample.end)
    head = json.dumps(document)[1:-1].encode()
    if not sample.rows:
        return head
    told = zip(sample.tokens, sample.rows, strict=True)
    data = b", ".join(
        json.dumps({"token_id": token["token_id"], "text": token["text"]})[:-1].encode()
        + b', "attention": '
        + rows
        + b"}"
        for token, rows in told
    )
    return b"".join((head, b', "attention_data": [', data, b"]"))


def _end(end: Ended) -> dict[str, Any]:
    """``approximate_tokens`` is there only where something of the prompt is not exact."""
    document = {
        "finish_reason": end.reason,
        "total_tokens": end.tokens,
        "generation_time_ms": _milliseconds(end),
    }
    return document | ({"approximate_tokens": end.approximate} if end.approximate else {})


def _milliseconds(end: Ended) -> int:
    return round(1000 * end.seconds)
