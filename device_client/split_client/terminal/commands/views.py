"""Commands for what is shown with each reply, and for the adapter that makes it."""

from __future__ import annotations

from dataclasses import dataclass

from split_client.terminal.adapter import AdapterView
from split_client.terminal.attention import AttentionView
from split_client.terminal.commands.command import Command, Group, Next


@dataclass(slots=True)
class Views:
    """The views of one chat."""

    attention: AttentionView
    adapter: AdapterView

    def group(self) -> Group:
        return Group(
            "The model",
            (
                Command(
                    ("adapter",),
                    "adapter [NAME]",
                    "list adapters, or take one; auto: by the words of each message, or none",
                    self.adapt,
                ),
                Command(
                    ("attention",),
                    "attention [now]",
                    "show what the last token of replies attends to, or stop; now: once",
                    self.attend,
                ),
            ),
        )

    def adapt(self, text: str) -> Next:
        self.adapter.command(text)
        return "stay"

    def attend(self, text: str) -> Next:
        self.attention.command(text.lower())
        return "stay"
