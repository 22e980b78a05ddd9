"""``/server`` and ``/stats``: what travelled, and what the server makes of it."""

from __future__ import annotations

from dataclasses import dataclass

from split_client.api import ChatSession, SplitClient
from split_client.terminal.attention import AttentionView
from split_client.terminal.commands.command import Command, Group, Next
from split_client.terminal.output.screen import Screen
from split_client.terminal.output.words import counted, traffic_line
from split_client.terminal.sampling import SettingInvalid
from split_client.terminal.server_panel import Observed, panel


@dataclass(slots=True)
class Server:
    """``rows`` counts the embedding rows of all replies of this chat."""

    client: SplitClient
    chat: ChatSession
    screen: Screen
    attention: AttentionView
    rows: int = 0

    def group(self) -> Group:
        return Group(
            "The server",
            (
                Command(
                    ("server", "panel"), "server", "what the server sees, and what not", self.panel
                ),
                Command(("stats",), "stats", "traffic and cache so far", self.stats),
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
        self.screen.note(
            f"{counted(len(self.chat.messages), 'message')}, "
            f"{counted(self.chat.cached_tokens, 'token')} cached "
            f"of {self.client.manifest.max_context}"
        )
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
            kept=self.client.server_cache != "off",
        )

    def _adapter(self) -> str | None:
        """The line on what the server is told of the adapter of the last reply."""
        used = self.chat.adapter_used
        if used is None:
            return None
        encrypted = any(known.name == used and known.encrypted for known in self.client.adapters)
        if encrypted:
            return f"{used}, with an adapter host; this server is not told"
        return f"{used}; the server applies it and sees its name"
