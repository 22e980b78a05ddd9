"""Tokens whose rows later rows are not to see, whatever session holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from split_client.generation.prefix import common_prefix
from split_wire.hiding.spans import Spans, cut


@runtime_checkable
class Hides(Protocol):
    """A backend that may have the rows of some positions hidden from those that follow."""

    @property
    def hides(self) -> bool:
        """Whether the open session can; False before one is open."""

    def sees_all_but(self, hidden: Spans, held: int) -> bool:
        """Whether of the first ``held`` positions just those are hidden, for certain."""

    def see_all_but(self, hidden: Spans, message: Spans) -> None:
        """Have the rows that follow see all that are held but those of ``hidden``; ``message``:
        where the user's last message lies, one span or none.

        The session is open. Raises CacheLost and what a step raises.
        """


@dataclass(frozen=True, slots=True)
class Veil:
    """``spans`` of the first ``tokens``; ``message``: where the user's last one lay, or none."""

    tokens: tuple[int, ...] = ()
    spans: Spans = ()
    message: Spans = ()

    def of(self, tokens: list[int]) -> Spans:
        """What is hidden where ``tokens`` are held: nothing behind the first that differs."""
        if not self.spans:
            return ()
        return cut(self.spans, common_prefix([*self.tokens], tokens))
