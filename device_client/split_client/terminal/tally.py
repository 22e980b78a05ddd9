"""What became of the tokens of a chat's prompts, and what brought those of its replies."""

from __future__ import annotations

from dataclasses import dataclass, field

from split_client.api import ReplyStats
from split_client.terminal.output.words import counted, seconds, size


@dataclass(slots=True)
class Ahead:
    """Tokens of replies, and what brought them: round trips, rows, drafts and forced tokens."""

    tokens: int = 0
    trips: int = 0
    rows: int = 0
    drafted: int = 0
    accepted: int = 0
    forced: int = 0

    def take(self, stats: ReplyStats) -> None:
        """Count a reply."""
        self.tokens += stats.tokens
        self.trips += stats.round_trips
        self.rows += stats.rows_sent
        self.drafted += stats.drafted
        self.accepted += stats.accepted
        self.forced += stats.forced

    def told(self) -> str:
        """On one line."""
        drafted = f"{self.accepted:,} of {self.drafted:,} drafted right" if self.drafted else ""
        forced = f"{self.forced:,} forced" if self.forced else ""
        told = (
            f"{counted(self.tokens, 'token')} in {counted(self.trips, 'round trip')}",
            f"{counted(self.rows, 'row')} sent",
            drafted,
            forced,
        )
        return ", ".join(filter(None, told))


@dataclass(slots=True)
class Tally:
    """Tokens of the prompts of all replies so far; of those that were not computed the ones that
    are not exact, by tier; bytes and seconds that restoring saved. Of those in the session,
    ``moved`` ones were computed for other positions, ``documents`` of them in other texts, with
    ``mended`` ones computed anew for it;
    what lies behind ``refused`` edits was computed as any text is.

    ``last``: that of the last reply alone.
    """

    prompt: int = 0
    sent: int = 0
    held: int = 0
    restored: int = 0
    int8: int = 0
    approximate: int = 0
    bytes: int = 0
    seconds: float = 0.0
    moved: int = 0
    mended: int = 0
    refused: int = 0
    documents: int = 0
    ahead: Ahead = field(default_factory=Ahead)
    last: Tally | None = None

    def take(self, stats: ReplyStats) -> None:
        """Count a reply, unless it never came."""
        if not stats.tokens:
            return
        last = Tally(
            stats.prompt_tokens,
            stats.prompt_sent,
            stats.prompt_held,
            stats.prompt_restored,
            stats.prompt_tiers.int8,
            stats.prompt_tiers.approximate,
            stats.bytes_saved,
            stats.seconds_saved or 0.0,
            stats.prompt_moved,
            stats.prompt_mended,
            stats.edits_refused,
            stats.prompt_documents,
        )
        self.prompt += last.prompt
        self.sent += last.sent
        self.held += last.held
        self.restored += last.restored
        self.int8 += last.int8
        self.approximate += last.approximate
        self.bytes += last.bytes
        self.seconds += last.seconds
        self.moved += last.moved
        self.mended += last.mended
        self.refused += last.refused
        self.documents += last.documents
        last.ahead.take(stats)
        self.ahead.take(stats)
        self.last = last

    def lines(self) -> list[str]:
        """The last prompt, and all of them where there were more; none before the first reply."""
        if self.last is None:
            return []
        lines = [f"last prompt: {self.last._told()}", f"last reply: {self.last.ahead.told()}"]
        if self.last.prompt == self.prompt:
            return lines
        return [*lines, f"all prompts: {self._told()}", f"all replies: {self.ahead.told()}"]

    def _tiers(self) -> str:
        """How many of those that were not sent are not exact, by tier."""
        tiers = {"int8": self.int8, "approximate": self.approximate}
        told = ", ".join(f"≈{count:,} {tier}" for tier, count in tiers.items() if count)
        return f" ({told})" if told else ""

    def _edits(self) -> str:
        """What became of edits inside prompts."""
        kinds, told = list[str](), ""
        if self.moved > self.documents:
            kinds.append(f"{self.moved - self.documents:,} moved behind edits")
        if self.documents:
            kinds.append(f"{self.documents:,} known from other texts")
        if kinds:
            told = f", {', '.join(kinds)} and {self.mended:,} computed anew for it"
        if self.refused:
            told += f", {counted(self.refused, 'edit')} not taken by the server"
        return told

    def _told(self) -> str:
        told = (
            f"{self.prompt:,} tokens, {self.sent:,} sent, {self.held:,} in the session, "
            f"{self.restored:,} restored{self._tiers()}{self._edits()}"
        )
        if not self.bytes:
            return told
        time = f" and about {seconds(self.seconds)}" if self.seconds else ""
        return f"{told}, which saved {size(self.bytes)}{time}"
