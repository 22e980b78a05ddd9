"""What became of the tokens of a chat's prompts: sent, in the session already, restored."""

from __future__ import annotations

from dataclasses import dataclass

from split_client.api import ReplyStats
from split_client.terminal.output.words import seconds, size


@dataclass(slots=True)
class Tally:
    """Tokens of the prompts of all replies so far; bytes and seconds that restoring saved.

    ``last``: that of the last reply alone.
    """

    prompt: int = 0
    sent: int = 0
    held: int = 0
    restored: int = 0
    bytes: int = 0
    seconds: float = 0.0
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
            stats.bytes_saved,
            stats.seconds_saved or 0.0,
        )
        self.prompt += last.prompt
        self.sent += last.sent
        self.held += last.held
        self.restored += last.restored
        self.bytes += last.bytes
        self.seconds += last.seconds
        self.last = last

    def lines(self) -> list[str]:
        """The last prompt, and all of them where there were more; none before the first reply."""
        if self.last is None:
            return []
        lines = [f"last prompt: {self.last._told()}"]
        return lines if self.last.prompt == self.prompt else [*lines, f"in all: {self._told()}"]

    def _told(self) -> str:
        told = (
            f"{self.prompt:,} tokens, {self.sent:,} sent, {self.held:,} in the session, "
            f"{self.restored:,} restored"
        )
        if not self.bytes:
            return told
        time = f" and about {seconds(self.seconds)}" if self.seconds else ""
        return f"{told}, which saved {size(self.bytes)}{time}"
