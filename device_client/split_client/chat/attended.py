"""A chat as the model read it: which of its tokens belong to which message, and their attention."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from split_client.chat.message import Message
from split_client.model.token_pieces import Piece
from split_wire.attention import AttentionRequest, AttentionWeights

# One row per layer, two bytes per layer and position: the mean over all of them is what is shown.
MEAN_ROWS = AttentionRequest(heads="mean", dtype="f16")


@dataclass(frozen=True, slots=True)
class Span:
    """Text of one piece; ``weight`` is its share of the attention, None where it is not known."""

    text: str
    weight: float | None


@dataclass(frozen=True, slots=True)
class Passage:
    """One message; its spans joined are its text without the white space around it."""

    role: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Attended:
    """Shares of one row, which sums to 1: ``first`` is that of the first position.

    ``template``: of control tokens and whatever else stands between the messages. The first
    position takes what no token needs (an attention sink: Xiao et al. 2023, "Efficient Streaming
    Language Models with Attention Sinks"), so the spans leave it out.
    """

    newest: str
    passages: tuple[Passage, ...]
    first: float
    template: float

    @property
    def strongest(self) -> float:
        """The largest weight of a span, 0 without any."""
        return max((span.weight or 0.0 for span in self._spans()), default=0.0)

    def most(self, count: int) -> list[tuple[str, float]]:
        """Text and weight of the spans with the largest weights above 0, largest first."""
        weighted = [(span.text, span.weight) for span in self._spans() if span.weight]
        return sorted(weighted, key=lambda entry: -entry[1])[:count]

    def _spans(self) -> Iterable[Span]:
        return (span for passage in self.passages for span in passage.spans)


@dataclass(frozen=True, slots=True)
class Placed:
    """``piece`` has the code points ``start`` to ``stop`` of a message's content."""

    piece: Piece
    start: int
    stop: int


class Transcript:
    """The text of a chat's tokens, with its messages found in it.

    ``pieces`` are those of prompt and reply, ``prompt_tokens`` long is the prompt; the last of
    ``messages`` is the reply. ``read`` tokens lead up to the newest one, the reply's last with a
    text; 0 for a reply without any.
    """

    def __init__(
        self, pieces: Sequence[Piece], prompt_tokens: int, messages: Sequence[Message]
    ) -> None:
        self._pieces, self._messages = pieces, messages
        self._text = "".join(piece.text for piece in pieces)
        self._starts = [0, *accumulate(len(piece.text) for piece in pieces)]
        self._controls = {self._starts[i] for i, piece in enumerate(pieces) if not piece.text}
        prompt = sum(piece.stop <= prompt_tokens for piece in pieces)
        self._places = self._find_all(self._starts[prompt])
        self._reply = self._pieces_of_reply(prompt)
        self.read = self._reply[-1].stop if self._reply else 0

    def attended(self, attention: AttentionWeights) -> Attended:
        """Spread the rows over the tokens; what counts is their mean over layers and heads.

        ``attention``: rows over the first ``read`` tokens, or over as many of them as the model
        has room for; what lies behind has no weight.
        """
        row = attention.values.mean(axis=(0, 1), dtype=np.float64)
        # A server may send zeros, or halves that do not quite sum to 1.
        row /= row.sum() or 1.0
        first, row[0] = float(row[0]), 0.0
        passages = tuple(
            Passage(message.role, self._spans(message.content.strip(), place, row))
            for message, place in zip(self._messages, self._places, strict=True)
        )
        told = sum(span.weight or 0.0 for passage in passages for span in passage.spans)
        seen = [piece.text for piece in self._reply if piece.start < len(row)]
        return Attended("".join(seen[-1:]), passages, first, max(0.0, 1.0 - first - told))

    def placed(self) -> list[tuple[Message, list[Piece]]]:
        """Each message with the pieces that have its text, none where the template changed it."""
        found = []
        for message, place in zip(self._messages, self._places, strict=True):
            content = message.content.strip()
            known = place is not None and content
            found.append((message, self._between(place or 0, content) if known else []))
        return found

    def spread(self) -> list[list[Placed]]:
        """Of each message the pieces that have its text, none where the template changed it; white
        space around a message is no part of it.
        """
        found = []
        for message, place in zip(self._messages, self._places, strict=True):
            content = message.content.strip()
            before = len(message.content) - len(message.content.lstrip())
            at = place if content else None
            found.append([] if at is None else list(self._spread(content, at, before)))
        return found

    def _spread(self, content: str, place: int, before: int) -> Iterator[Placed]:
        first, end = bisect_right(self._starts, place) - 1, place + len(content)
        for index in range(first, bisect_left(self._starts, end)):
            piece, start = self._pieces[index], self._starts[index] - place
            stop = min(start + len(piece.text), len(content))
            if stop > max(0, start):
                yield Placed(piece, before + max(0, start), before + stop)

    def _between(self, place: int, content: str) -> list[Piece]:
        first = bisect_right(self._starts, place) - 1
        return list(self._pieces[first : bisect_left(self._starts, place + len(content))])

    def _find_all(self, reply_from: int) -> list[int | None]:
        """The places where the texts of messages begin, None where the template changed one."""
        *earlier, reply = (message.content.strip() for message in self._messages)
        found = [self._text.find(reply, reply_from)]
        before = reply_from
        for content in reversed(earlier):
            found.insert(0, self._last(content, before))
            before = found[0] if found[0] >= 0 else before
        return [place if place >= 0 else None for place in found]

    def _last(self, content: str, before: int) -> int:
        """The last place of ``content`` that ends ``before``, -1 if none.

        One that a control token follows is preferred: what a template writes between messages may
        have the same words as a short message.
        """
        last = found = self._text.rfind(content, 0, before)
        while found > 0 and found + len(content) not in self._controls:
            found = self._text.rfind(content, 0, found + len(content) - 1)
        return last if found < 0 else found

    def _pieces_of_reply(self, prompt: int) -> list[Piece]:
        """Those of its text; a stop text that was cut off is no part of it."""
        end, place = len(self._text), self._places[-1]
        if place is not None:
            end = place + len(self._messages[-1].content.lstrip())
        pieces = enumerate(self._pieces[prompt:], prompt)
        return [piece for i, piece in pieces if piece.text and self._starts[i] < end]

    def _spans(self, content: str, place: int | None, row: NDArray[np.float64]) -> tuple[Span, ...]:
        if place is None:
            return (Span(content, None),)
        spans, end = list[Span](), place + len(content)
        first = bisect_right(self._starts, place) - 1
        for index in range(first, bisect_left(self._starts, end)):
            piece, start = self._pieces[index], self._starts[index]
            text = piece.text[max(0, place - start) : end - start]
            if text:
                spans.append(Span(text, _share(piece, row)))
        return tuple(spans)


def _share(piece: Piece, row: NDArray[np.float64]) -> float | None:
    weights = row[piece.start : piece.stop]
    return float(weights.sum()) if len(weights) else None
