"""What one generation gave, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field

from split_client.generation.loop import Event, FinishReason, TokenEvent


@dataclass(frozen=True, slots=True)
class Result:
    """``token_ids``: of the reply, with the end token if one came; ``text`` without it.

    ``ttft_ms``: milliseconds to the first token, from the ids of the prompt on and with the wait
    for a place; ``total_ms``: to the last. ``kv_reuse_ratio``: the share of the prompt's positions
    that were not computed.
    """

    text: str
    token_ids: tuple[int, ...]
    finish_reason: FinishReason
    prompt_tokens: int
    reused_tokens: int
    ttft_ms: float
    total_ms: float

    @property
    def kv_reuse_ratio(self) -> float:
        return self.reused_tokens / self.prompt_tokens


@dataclass(slots=True)
class Gathered:
    """The events of one reply so far; ``began``: seconds of the clock that :meth:`add` is told."""

    prompt_tokens: int
    began: float
    reused: int = 0
    first: float | None = None
    stepped: bool = False
    tokens: list[int] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    reason: FinishReason = "cancelled"

    def add(self, event: Event, now: float) -> None:
        """Take in the next event."""
        self.pieces.append(event.text)
        if not isinstance(event, TokenEvent):
            self.reason = event.reason
            return
        self.tokens.append(event.token)
        if self.first is None:
            self.first = now
        if event.rows and not self.stepped:
            self.stepped = True
            self.reused = max(0, self.prompt_tokens - event.prompt_computed)

    def result(self, now: float) -> Result:
        """The whole, once the last event is in."""
        first = now if self.first is None else self.first
        return Result(
            "".join(self.pieces),
            tuple(self.tokens),
            self.reason,
            self.prompt_tokens,
            self.reused,
            1000 * (first - self.began),
            1000 * (now - self.began),
        )
