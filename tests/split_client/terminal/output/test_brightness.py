from __future__ import annotations

import re
from itertools import pairwise

import pytest

from split_client.terminal.output.brightness import BEGINNINGS, legend, level, styled
from tests.split_client.terminal.colours import contrast, rgb, seen

LEVELS = range(len(BEGINNINGS) + 1)
SGR = re.compile(r"\x1b\[48;5;(\d+);38;5;(\d+)m(.*?)\x1b\[0m")


def colours(at: int) -> tuple[float, float]:
    found = SGR.fullmatch(styled("x", at))
    assert found is not None
    return seen(rgb(int(found[1])), "usual"), seen(rgb(int(found[2])), "usual")


@pytest.mark.parametrize(
    ("weight", "at"),
    [(0.0, 0), (0.029, 0), (0.031, 1), (0.081, 2), (0.21, 3), (0.51, 4), (1.0, 4)],
)
def test_a_level_is_a_share_of_the_largest_weight(weight: float, at: int) -> None:
    assert level(weight * 0.125, 0.125) == at


def test_nothing_is_bright_where_all_weights_are_zero() -> None:
    assert level(0.0, 0.0) == 0


def test_levels_differ_in_luminance_and_not_in_hue_alone() -> None:
    backgrounds = [colours(at)[0] for at in LEVELS]
    assert backgrounds == sorted(backgrounds)
    assert all(contrast(one, other) >= 1.3 for one, other in pairwise(backgrounds))


def test_the_text_of_every_level_can_be_read() -> None:
    assert all(contrast(*colours(at)) >= 4.5 for at in LEVELS)


def test_text_without_a_level_is_left_as_it_is() -> None:
    assert styled("x", None) == "x"
    assert styled("", 3) == ""


def test_the_legend_shows_every_level_and_fits_a_narrow_terminal() -> None:
    labels = [match[3].strip() for match in SGR.finditer(legend())]
    plain = re.sub(r"\x1b\[[0-9;]*m", "", legend())
    assert labels == ["<3", "3", "8", "20", "50"]
    assert plain == " <3  3  8  20  50  % of the largest"
    assert len(plain) < 40
