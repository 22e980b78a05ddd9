"""A QR code that a phone can read off any terminal."""

import re

from split_settings.qr_code import qr_code


def test_the_qr_code_is_a_rectangle_of_half_blocks_with_its_own_colours() -> None:
    lines = qr_code("http://192.0.2.7:9095/").split("\n")
    bare = [re.sub(r"\x1b\[[0-9;]*m", "", line).removeprefix("  ") for line in lines]
    width = 25 + 2 * 2  # version 2 and a margin of two modules
    assert {len(line) for line in bare} == {width}
    assert len(bare) == (width + 1) // 2
    assert set("".join(bare)) == set(" ▀▄█")
    assert all("\x1b[38;5;16;48;5;231m" in line and line.endswith("\x1b[0m") for line in lines)
    assert bare[0].strip() == ""
    assert bare[1].startswith("  █▀▀▀▀▀█")  # the corner that a scanner looks for
