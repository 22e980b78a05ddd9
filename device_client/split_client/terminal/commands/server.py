"""``/server`` and ``/stats``: what travelled, and what the server makes of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from split_client.api import ChatSession, SplitClient
from split_client.errors import ClientError
from split_client.terminal.attention import AttentionView
from split_client.terminal.commands.command import Command, Group, Next
from split_client.terminal.commands.forget import Forget
from split_client.terminal.kept import NOT_KEPT, kept_lines
from split_client.terminal.output.redaction import counted_kinds
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen
from split_client.terminal.output.words import counted, masks_line, traffic_line
from split_client.terminal.sampling import SettingInvalid
from split_client.terminal.server_panel import Observed, panel
from split_client.terminal.switching.chosen import model_words
from split_client.terminal.tally import Tally
from split_client.terminal.verified import record_lines
from split_wire.errors import SplitError


@dataclass(slots=True)
class Server:
    """``rows`` counts the embedding rows of all replies of this chat, ``tally`` what became of its
    prompts.
    """

    client: SplitClient
    chat: ChatSession
    screen: Screen
    attention: AttentionView
    forget: Forget
    rows: int = 0
    tally: Tally = field(default_factory=Tally)

    def group(self) -> Group:
        return Group(
            "The server",
            (
                Command(
                    ("server", "panel"), "server", "what the server sees, and what not", self.panel
                ),
                Command(("stats",), "stats", "traffic and cache so far", self.stats),
                self.forget.command(),
            ),
        )

    def panel(self, text: str) -> Next:
        if text:
            raise SettingInvalid("/server takes nothing behind it")
        for section in panel(self._observed()):
            self.screen.paragraph(section.title, role="heading")
            for line in section.lines:
                self.screen.paragraph(f"  {line}", 2)
        return "stay"

    def stats(self, _: str) -> Next:
        stats = self.client.stats
        self.screen.note(traffic_line(stats))
        masks = self.client.masks
        if masks is not None and masks.wanted:
            self.screen.note(masks_line(masks))
        self.screen.note(
            f"{counted(len(self.chat.messages), 'message')}, "
            f"{counted(self.chat.cached_tokens, 'token')} cached "
            f"of {self.client.manifest.max_context}"
        )
        for line in (*self.tally.lines(), *record_lines(self.client.verified)):
            self.screen.note(line)
        return "stay"

    def _observed(self) -> Observed:
        return Observed(
            endpoint=self.client.endpoint,
            stats=self.client.stats,
            rows=self.rows,
            width=self.client.manifest.hidden_size,
            cached=self.chat.cached_tokens,
            attention=self.attention.asked,
            adapter=self._adapter(),
            noise=tuple(self.client.privacy_lines(self.chat)),
            kept=tuple(self._kept()),
            drafts=self.chat.drafts != "off",
            redaction=self._redacted(),
            replica=self.client.replica,
            streamed=self.client.streamed,
            layers=self.client.manifest.num_layers,
            model=model_words(self.client),
        )

    def _redacted(self) -> str | None:
        redaction = self.chat.redaction
        if not redaction.on:
            return None
        return counted_kinds(entry.kind for entry in redaction.entries) or "nothing so far"

    def _kept(self) -> list[str]:
        if self.client.server_cache == "off":
            return [NOT_KEPT]
        try:
            return kept_lines(self.client.server_keeps(), self.client.server_cache)
        # The rest of the panel is as true without the answer.
        except (ClientError, SplitError) as error:
            return [*kept_lines(None), one_line(f"It was asked just now: {error}", 300)]

    def _adapter(self) -> str | None:
        """The line on what the server is told of the adapter of the last reply."""
        used = self.chat.adapter_used
        if used is None:
            return None
        encrypted = any(known.name == used and known.encrypted for known in self.client.adapters)
        if encrypted:
            return f"{used}, with an adapter host; this server is not told"
        return f"{used}; the server applies it and sees its name"
