"""Attention weights to levels of brightness, and those to what a terminal is sent.

A level is a background and a foreground of the 256 colours (ISO 8613-6, as xterm has them). Both
are set, so it looks the same on a dark and on a light terminal; the backgrounds' luminance rises
from level to level, so the order is seen without seeing hues.
"""

from __future__ import annotations

from bisect import bisect_right

# Of the largest weight: a level begins at each. Weights fall off steeply, so the steps are ratios.
BEGINNINGS = (0.03, 0.08, 0.2, 0.5)
# Background and foreground by level, of a contrast of at least 4.5 (WCAG 2.1, AA).
_COLOURS = ((234, 247), (237, 253), (58, 231), (136, 16), (227, 16))
# Brightness of a chat's tokens, of 65,535, at which a level begins; what is new is of the fourth.
_TINTS = (8_192, 16_384, 32_768, 49_152)
_RESET = "\x1b[0m"


def level(weight: float, largest: float) -> int:
    """0 to 4 for a ``weight`` of 0 to ``largest``; 0 where all are 0."""
    return bisect_right(BEGINNINGS, weight / largest) if largest > 0 else 0


def styled(text: str, at: int | None) -> str:
    """``text`` of one line at a level; None leaves it as it is."""
    if at is None or not text:
        return text
    background, foreground = _COLOURS[at]
    return f"\x1b[48;5;{background};38;5;{foreground}m{text}{_RESET}"


def legend() -> str:
    """One line of 37 columns: the levels and where they begin."""
    begins = [f" {share * 100:.0f} " for share in BEGINNINGS]
    labels = [f" <{begins[0].strip()} ", *begins]
    swatches = "".join(styled(label, at) for at, label in enumerate(labels))
    return f"{swatches} % of the largest"


def tint(brightness: int) -> int:
    """0 to 4 for a brightness of 0 to 65,535."""
    return bisect_right(_TINTS, brightness)


def tint_legend() -> str:
    """One line: the levels of a tinted chat and where they begin."""
    labels = [" <12 ", *(f" {100 * begin // 65_536} " for begin in _TINTS)]
    swatches = "".join(styled(label, at) for at, label in enumerate(labels))
    return f"{swatches} % bright; 50: as it began"
