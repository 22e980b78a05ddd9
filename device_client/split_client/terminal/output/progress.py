"""A progress bar for pulling, on standard error."""

from __future__ import annotations

import time
from collections.abc import Callable

from split_client.terminal.output.fold import columns
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen
from split_client.terminal.output.words import duration, size
from split_client.weights.pull import Progress

_EVERY = 0.1
_BAR = 24
_PACE_AFTER = 1.0


class ProgressBar:
    """Redraws one line for a person; tells a log every tenth of the way."""

    def __init__(self, screen: Screen, clock: Callable[[], float] = time.monotonic) -> None:
        self._screen = screen
        self._clock = clock
        self._tty = screen.err.isatty()
        self._drawn_at = float("-inf")
        self._tenth = -1
        self._open = False
        # When it was first heard of, and how much was there then.
        self._began: tuple[float, int] | None = None

    def update(self, progress: Progress) -> None:
        """Show where the pull stands."""
        if self._began is None:
            self._began = self._clock(), progress.done
        if progress.note:
            self._announce(progress)
        elif self._tty:
            self._draw(progress)
        else:
            self._log(progress)

    def close(self) -> None:
        """Leave the line."""
        if self._open:
            self._screen.err.write("\n")
            self._screen.err.flush()
        self._open = False

    def _announce(self, progress: Progress) -> None:
        self.close()
        self._screen.note(f"{one_line(progress.file)}: {one_line(progress.note)}")

    def _draw(self, progress: Progress) -> None:
        at = self._clock()
        if at - self._drawn_at < _EVERY and progress.done < progress.total:
            return
        self._drawn_at, self._open = at, True
        part = progress.done / progress.total
        bar = "#" * int(_BAR * part) + "-" * (_BAR - int(_BAR * part))
        amount = f"{size(progress.done)} of {size(progress.total)}"
        width = columns(self._screen.err) - 1
        text = f"{part:4.0%}  {amount}"
        # Whole parts only: what a narrow terminal has no room for is left out.
        timed = text + self._left(progress)
        for wider in (timed, f"{bar} {timed}", f"{bar} {timed}  {one_line(progress.file)}"):
            text = wider if len(wider) <= width else text
        self._screen.err.write("\r" + text[:width].ljust(width))
        self._screen.err.flush()

    def _log(self, progress: Progress) -> None:
        tenth = 10 * progress.done // progress.total
        if tenth > self._tenth:
            self._tenth = tenth
            left = self._left(progress)
            self._screen.note(
                f"{10 * tenth}%  {size(progress.done)} of {size(progress.total)}{left}"
            )

    def _left(self, progress: Progress) -> str:
        """The time left at the pace so far, once there is one; with the gap before it."""
        if self._began is None:
            return ""
        took, got = self._clock() - self._began[0], progress.done - self._began[1]
        if took < _PACE_AFTER or got <= 0 or progress.done >= progress.total:
            return ""
        return f"  {duration((progress.total - progress.done) * took / got)} left"
