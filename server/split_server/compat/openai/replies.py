"""The reader of one reply: what each event of the decode loop adds to it."""

from __future__ import annotations

from dataclasses import dataclass

from split_client.generation.loop import Event, Finished, FinishReason, TokenEvent
from split_client.tools.call import ToolCall
from split_client.tools.reading import CallReader, Piece
from split_server.compat.openai.token_texts import ScoredToken, TokenScorer

_FINISH: dict[FinishReason, str] = {
    "eos": "stop",
    "stop": "stop",
    "length": "length",
    "context": "length",
    "cancelled": "stop",
}


@dataclass(frozen=True, slots=True)
class Delta:
    """An addition: text, calls, the tokens they came from if these were asked for, the end.

    ``end``: the event at the end, for APIs that tell more of it.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    tokens: tuple[ScoredToken, ...] = ()
    finish: str | None = None
    end: Finished | None = None

    def __bool__(self) -> bool:
        return bool(self.text or self.calls or self.tokens or self.finish)


class ReplyReader:
    """``ends``: tokens that end a reply and are no part of it; ``scorer``: None unless tokens are
    asked for.
    """

    def __init__(
        self, reader: CallReader, ends: frozenset[int], scorer: TokenScorer | None
    ) -> None:
        self._reader = reader
        self._ends = ends
        self._scorer = scorer
        self._called = False

    def push(self, event: Event) -> Delta:
        """The addition that ``event`` makes."""
        if isinstance(event, Finished):
            pieces = [*self._reader.push(event.text), *self._reader.finish()]
            text, calls = self._split(pieces)
            reason = "tool_calls" if self._called else _FINISH[event.reason]
            return Delta(text, calls, (), reason, event)
        text, calls = self._split(self._reader.push(event.text))
        return Delta(text, calls, self._scored(event))

    def _split(self, pieces: list[Piece]) -> tuple[str, tuple[ToolCall, ...]]:
        calls = tuple(piece for piece in pieces if isinstance(piece, ToolCall))
        self._called = self._called or bool(calls)
        return "".join(piece for piece in pieces if isinstance(piece, str)), calls

    def _scored(self, event: TokenEvent) -> tuple[ScoredToken, ...]:
        if self._scorer is None or event.logprobs is None or event.token in self._ends:
            return ()
        return (self._scorer.push(event.token, event.logprobs),)


class Reply:
    """A whole reply, put together from what was new."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self.calls: list[ToolCall] = []
        self.tokens: list[ScoredToken] = []
        self.finish = "stop"
        self.end: Finished | None = None

    def add(self, delta: Delta) -> None:
        """Add what is new."""
        self._texts.append(delta.text)
        self.calls += delta.calls
        self.tokens += delta.tokens
        self.finish = delta.finish or self.finish
        self.end = delta.end or self.end

    @property
    def text(self) -> str:
        """All of the text so far."""
        return "".join(self._texts)
