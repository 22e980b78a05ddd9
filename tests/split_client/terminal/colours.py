"""The 256 colours as xterm has them, their contrast, and how they look to people who miss a cone.

Contrast and luminance are those of WCAG 2.1. The matrices are those of Viénot, Brettel and Mollon
1999, "Digital video colourmaps for checking the legibility of displays by dichromats", for linear
RGB: what a protanope or deuteranope sees, with the confusion lines projected onto one plane.
"""

from __future__ import annotations

import numpy as np

Rgb = tuple[int, int, int]

_TO_LMS = np.array(
    [[17.8824, 43.5161, 4.11935], [3.45565, 27.1554, 3.86714], [0.0299566, 0.184309, 1.46709]]
)
_MISSING = {
    "protanopia": np.array([[0, 2.02344, -2.52581], [0, 1, 0], [0, 0, 1]]),
    "deuteranopia": np.array([[1, 0, 0], [0.494207, 0, 1.24827], [0, 0, 1]]),
}
_WEIGHTS = np.array([0.2126, 0.7152, 0.0722])


def rgb(colour: int) -> Rgb:
    """From 16 on: a cube of 6 x 6 x 6, then 24 greys."""
    if colour >= 232:
        grey = 8 + 10 * (colour - 232)
        return grey, grey, grey
    steps = (0, 95, 135, 175, 215, 255)
    cube = colour - 16
    return steps[cube // 36], steps[cube // 6 % 6], steps[cube % 6]


def linear(colour: Rgb) -> np.ndarray:
    """Linear light [3], 0 to 1."""
    part = np.array(colour) / 255
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def seen(colour: Rgb, eyes: str) -> float:
    """Relative luminance as ``eyes`` see it: "usual", "protanopia" or "deuteranopia"."""
    light = linear(colour)
    if eyes in _MISSING:
        light = np.linalg.inv(_TO_LMS) @ _MISSING[eyes] @ _TO_LMS @ light
    return float(_WEIGHTS @ np.clip(light, 0, 1))


def contrast(one: float, other: float) -> float:
    """Of two luminances, 1 to 21."""
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)
