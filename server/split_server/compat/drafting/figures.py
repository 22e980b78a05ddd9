"""Counts of what drafts and forms saved."""

from __future__ import annotations

from dataclasses import dataclass

from split_client.generation.loop import TokenEvent


@dataclass(slots=True)
class DraftFigures:
    """Tokens ``drafted`` and of these ``accepted``, tokens ``forced`` by a form, and
    ``passes_saved``: tokens that needed none of their own.
    """

    drafted: int = 0
    accepted: int = 0
    forced: int = 0
    passes_saved: int = 0

    def count(self, event: TokenEvent) -> None:
        """Count one token."""
        self.drafted += event.drafted
        self.accepted += event.guessed
        self.forced += event.forced
        self.passes_saved += not event.rows

    def add(self, others: DraftFigures) -> None:
        """Count what ``others`` have counted."""
        self.drafted += others.drafted
        self.accepted += others.accepted
        self.forced += others.forced
        self.passes_saved += others.passes_saved

    def document(self) -> dict[str, int]:
        """By name."""
        return {
            "drafted": self.drafted,
            "accepted": self.accepted,
            "forced": self.forced,
            "passes_saved": self.passes_saved,
        }
