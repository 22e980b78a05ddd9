"""QR codes for a terminal."""

from __future__ import annotations

import segno

_BLACK_ON_WHITE = "\x1b[38;5;16;48;5;231m"
_RESET = "\x1b[0m"


def qr_code(text: str) -> str:
    """``text`` as black and white half blocks, right on dark and on light terminals."""
    rows = [list(row) for row in segno.make(text, error="l", micro=False).matrix_iter(border=2)]
    if len(rows) % 2:
        rows.append([0] * len(rows[0]))
    blocks = {(0, 0): " ", (1, 0): "▀", (0, 1): "▄", (1, 1): "█"}
    lines = (
        "".join(blocks[bool(upper), bool(lower)] for upper, lower in zip(top, bottom, strict=True))
        for top, bottom in zip(rows[::2], rows[1::2], strict=True)
    )
    return "\n".join(f"  {_BLACK_ON_WHITE}{line}{_RESET}" for line in lines)
