"""One reply while it is made: an iterator of text, and afterwards what it cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from split_client.chat.calling import CallListener
from split_client.chat.formed import Formed
from split_client.chat.steering.tokens import ReplyToken, TokenLog
from split_client.errors import ReplyCut
from split_client.generation.loop import Event, Finished, FinishReason, TokenEvent, TokenTiming
from split_client.redaction.undoing.stream import Undo
from split_client.tools.call import ToolCall
from split_client.transport.base import Traffic
from split_wire.tiers import ALL_EXACT, Inexact


@dataclass(slots=True)
class ReplyStats:
    """Counts in tokens, times in seconds, traffic in bytes of frames.

    ``prompt_sent`` is the part of the prompt that travelled; the rest was cached: ``prompt_held``
    by the chat's own session. ``prompt_restored`` the server had kept from an earlier one, and of
    these ``prompt_reused`` were sent in vain. ``prompt_tiers``: which of all that was not computed
    now is not exact (``total``), by tier. ``prompt_moved`` of those that the session held had been
    computed for other positions, before an edit, and ``prompt_mended`` rows were computed anew
    around them; ``prompt_documents`` of those that were moved are of other texts, kept by what they
    say; ``edits_refused``: a server that offers this did not do it. ``bytes_saved``: of
    rows that did not travel for it; ``seconds_saved``: about as many, None as long as no prompt
    that was sent tells.

    ``round_trips`` to the server, its session's opening included; ``rows_sent``: embedding rows.
    Of these ``drafted`` were guesses, of which ``accepted`` is how many the sampler chose.
    ``forced``: tokens that the form of the reply allowed no other for; ``forced_first`` of them
    came before anything was sent. ``decoding``: whether a step followed the prompt's.
    """

    prompt_tokens: int
    prompt_sent: int = 0
    prompt_held: int = 0
    prompt_restored: int = 0
    prompt_reused: int = 0
    prompt_tiers: Inexact = ALL_EXACT
    prompt_moved: int = 0
    prompt_mended: int = 0
    edits_refused: int = 0
    prompt_documents: int = 0
    bytes_saved: int = 0
    seconds_saved: float | None = 0.0
    ttft: float = 0.0
    bytes_up: int = 0
    bytes_down: int = 0
    round_trips: int = 0
    rows_sent: int = 0
    drafted: int = 0
    accepted: int = 0
    forced: int = 0
    forced_first: int = 0
    decoding: bool = False
    timings: list[TokenTiming] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        """Tokens of the reply."""
        return len(self.timings)

    @property
    def tokens_per_round_trip(self) -> float:
        """0 where there was none."""
        return self.tokens / self.round_trips if self.round_trips else 0.0

    @property
    def tokens_per_second(self) -> float:
        """Speed after the first token that the prompt was sent for; 0 where no step followed it."""
        if not self.decoding:
            return 0.0
        later = [timing.total for timing in self.timings[self.forced_first + 1 :]]
        return len(later) / sum(later) if sum(later) > 0 else 0.0


class Reply:
    """Iterate it for pieces of text; it is made as it is read.

    ``text``, ``token_ids`` and ``stats`` grow with it; ``finish_reason`` is None until its end.
    ``text`` reads the whole reply where nobody has begun to.
    ``adapter``: the name of the one it is made with, None for the model alone. ``listener`` takes
    calls of tools out of its text. ``beginning``: the text that it goes on from, "" for one that
    is made anew; ``log`` has its tokens, those of the beginning first. ``on_token`` is called with
    each token and with how many are before it, those of the prompt included. ``undo`` takes
    surrogates out of its text; ``written`` is the text as the model wrote it, ``undone`` makes of a
    value of a form what it stands for.
    """

    def __init__(self, events: Iterator[Event], prompt_tokens: int, traffic: Traffic) -> None:
        self._events = events
        self._traffic = traffic
        self._sent, self._received = traffic.sent, traffic.received
        self._exchanges = traffic.exchanges
        self._text, self._begun = "", False
        self.token_ids: list[int] = []
        self.finish_reason: FinishReason | None = None
        self.stats = ReplyStats(prompt_tokens)
        self.adapter: str | None = None
        self.listener: CallListener | None = None
        self.formed: Formed | None = None
        self.undo: Undo | None = None
        self.undone: Callable[[Any], Any] = lambda value: value
        self.beginning = self.written = ""
        self.log: TokenLog | None = None
        self.on_token: Callable[[TokenEvent, int], None] = lambda *_: None
        self.on_begin: Callable[[], None] = lambda: None
        self.on_finish: Callable[[], None] = lambda: None

    @property
    def text(self) -> str:
        """The text so far; of a reply that nobody has begun to read, all of it."""
        return self._text if self._begun else self.read()

    @property
    def tokens(self) -> tuple[ReplyToken, ...]:
        """All tokens so far, those that it went on from first; each knows its alternatives."""
        return () if self.log is None else self.log.tokens()

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls of tools so far, which are no part of its text."""
        return () if self.listener is None else tuple(self.listener.calls)

    @property
    def value(self) -> Any:
        """What a reply with a form says, which is read to its end: the parsed JSON of a JSON form,
        else its text. Raises ReplyCut where the reply has no form, or is no whole text of it.
        """
        if self.finish_reason is None:
            self.read()
        if self.formed is None:
            raise ReplyCut("it was asked for without one; use text, or give form=")
        return self.undone(self.formed.value(self.written, self.finish_reason))

    @property
    def begun(self) -> bool:
        """Whether anybody has begun to read it."""
        return self._begun

    def events(self) -> Iterator[Event]:
        """The rest of the reply with its tokens and timings."""
        self._begun = True
        self.on_begin()
        for event in self._events:
            heard = self._seen(event if self.listener is None else self.listener.heard(event))
            self._take(heard)
            yield heard

    def __iter__(self) -> Iterator[str]:
        for event in self.events():
            if event.text:
                yield event.text

    def read(self) -> str:
        """Make the whole reply and return its text."""
        for _ in self.events():
            pass
        return self._text

    def go_on_from(self, beginning: str) -> None:
        """It goes on from a text, as the model wrote it."""
        self.written += beginning
        self.beginning = beginning if self.undo is None else self.undo.push(beginning)

    def _seen(self, event: Event) -> Event:
        """The event as a person sees it."""
        self.written += event.text
        if self.undo is None:
            return event
        text = self.undo.push(event.text)
        if isinstance(event, Finished):
            text += self.undo.finish()
        return replace(event, text=text)

    def _take(self, event: Event) -> None:
        self._text += event.text
        self.stats.bytes_up = self._traffic.sent - self._sent
        self.stats.bytes_down = self._traffic.received - self._received
        self.stats.round_trips = self._traffic.exchanges - self._exchanges
        match event:
            case Finished(reason=reason):
                self.finish_reason = reason
                self.on_finish()
            case TokenEvent(token=token, timing=timing):
                if not self.token_ids:
                    self.stats.ttft = timing.total
                self._count(event)
                self.on_token(event, self.stats.prompt_tokens + len(self.token_ids))
                self.token_ids.append(token)
                if self.log is not None:
                    self.log.take(token, event.hidden)
                self.stats.timings.append(timing)

    def _count(self, event: TokenEvent) -> None:
        stats = self.stats
        if event.rows and not stats.rows_sent:
            self._spared(event)
            stats.forced_first = stats.tokens
        elif event.rows:
            stats.decoding = True
        stats.rows_sent += event.rows
        stats.drafted += event.drafted
        stats.accepted += event.guessed
        stats.forced += event.forced

    def _spared(self, first: TokenEvent) -> None:
        """What became of the prompt, from the first token that a step was taken for."""
        stats, spared = self.stats, first.spared
        stats.prompt_sent = first.prompt_rows
        stats.prompt_held = min(spared.held, stats.prompt_tokens)
        # Forced tokens before the first step are among its rows, and may have been kept, too.
        stats.prompt_restored = min(first.restored, stats.prompt_tokens - stats.prompt_held)
        stats.prompt_reused = min(spared.reused, stats.prompt_restored)
        stats.prompt_tiers = spared.inexact
        stats.prompt_moved, stats.prompt_mended = spared.moved, spared.mended
        stats.edits_refused, stats.prompt_documents = spared.refused, spared.documents
        stats.bytes_saved, stats.seconds_saved = spared.bytes, spared.seconds
