"""A screen that remembers, and readers that know what will be typed."""

from __future__ import annotations

import io

from split_client.terminal.output.screen import Screen


class FakeTty(io.StringIO):
    """Text that was written to a terminal."""

    def isatty(self) -> bool:
        return True


class RecordingScreen(Screen):
    """``shown`` and ``noted`` are what was written so far."""

    def __init__(self, interactive: bool = False) -> None:
        kind = FakeTty if interactive else io.StringIO
        super().__init__(kind(), io.StringIO())

    @property
    def shown(self) -> str:
        return self.out.getvalue()  # type: ignore[attr-defined, no-any-return]

    @property
    def noted(self) -> str:
        return self.err.getvalue()  # type: ignore[attr-defined, no-any-return]


class TypedReader:
    """Gives ``lines`` one after the other; an exception among them is raised."""

    def __init__(self, lines: list[str | type[BaseException]]) -> None:
        self._lines = list(lines)
        self.drafts: list[str] = []

    def read(self, draft: str = "") -> str | None:
        self.drafts.append(draft)
        if not self._lines:
            return None
        line = self._lines.pop(0)
        if isinstance(line, str):
            return line
        raise line
