"""A text that is looked at: folded, squeezed, and for whom."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from split_client.redaction.folding import Folded, fold, lower
from split_client.redaction.kinds import DateParts, Found, Kind
from split_client.redaction.squeezed import Squeezed, squeeze


@dataclass(frozen=True)
class Looked:
    """``regions``: whose phone numbers and ids may be written without their country's code."""

    folded: Folded
    regions: tuple[str, ...] = ()

    @classmethod
    def at(cls, text: str, regions: tuple[str, ...] = ()) -> Looked:
        return cls(fold(text), regions)

    @property
    def text(self) -> str:
        """Folded."""
        return self.folded.text

    @cached_property
    def lower(self) -> str:
        return lower(self.text)

    @cached_property
    def squeezed(self) -> Squeezed:
        return squeeze(self.text)

    def hiding(self, spans: Iterable[tuple[int, int]]) -> Looked:
        """The same with a # for each character in ``spans``."""
        text = self.text
        for start, end in spans:
            text = text[:start] + "#" * (end - start) + text[end:]
        if text == self.text:
            return self
        return Looked(replace(self.folded, text=text), self.regions)

    @property
    def months_first(self) -> bool:
        """Whether a date with slashes begins with its month."""
        return self.regions[:1] == ("US",)

    def found(
        self,
        kind: Kind,
        key: str,
        start: int,
        end: int,
        rule: str = "",
        parts: DateParts | None = None,
    ) -> Found:
        """What stands at those folded characters."""
        first, last = self.folded.span(start, end)
        return Found(kind, key, start, end, self.folded.source[first:last], rule, parts)
