from __future__ import annotations

import re
from itertools import combinations

import pytest

from split_client.terminal.output.theme import (
    DARK,
    EITHER,
    LIGHT,
    MONO,
    PLAIN,
    Role,
    Style,
    Theme,
    theme_for,
)
from tests.split_client.terminal.colours import Rgb, contrast, rgb, seen

XTERM = {"TERM": "xterm-256color"}
BLACK, WHITE = (0, 0, 0), (255, 255, 255)
# Backgrounds: black, VS Code, Solarized dark, Dracula; white, Solarized light, a light grey.
DARKS = (BLACK, (30, 30, 30), (0, 43, 54), (40, 42, 54))
LIGHTS = (WHITE, (253, 246, 227), (240, 240, 240))
# What a terminal writes in where nothing says otherwise.
TEXTS = {"dark": (WHITE, (204, 204, 204)), "light": (BLACK, (51, 51, 51))}
ROLES: tuple[Role, ...] = (
    "you",
    "note",
    "error",
    "code",
    "block",
    "heading",
    "link",
    "quote",
    "frame",
)
EYES = ("usual", "protanopia", "deuteranopia")


def foreground(theme: Theme, role: Role) -> Rgb | None:
    found = re.search(r"38;5;(\d+)", theme.sgr.get(role, ""))
    return rgb(int(found[1])) if found else None


def background(theme: Theme, role: Role) -> Rgb | None:
    found = re.search(r"48;5;(\d+)", theme.sgr.get(role, ""))
    return rgb(int(found[1])) if found else None


def attributes(theme: Theme, role: Role) -> set[str]:
    """What is not a colour of the letters: bold, italic, underlined, or a ground of its own."""
    ground = {"ground"} if background(theme, role) else set()
    return ground | set(re.sub(r"[34]8;5;\d+", "", theme.sgr.get(role, "")).split(";")) - {""}


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(("theme", "grounds"), [(DARK, DARKS), (LIGHT, LIGHTS)])
def test_every_role_can_be_read_on_the_usual_backgrounds(
    theme: Theme, grounds: tuple[Rgb, ...], role: Role, eyes: str
) -> None:
    letters = foreground(theme, role)
    assert letters is not None
    own = background(theme, role)
    for ground in (own,) if own else grounds:
        least = 4.5 if eyes == "usual" else 4.0
        assert contrast(seen(letters, eyes), seen(ground, eyes)) >= least


@pytest.mark.parametrize("role", ROLES)
def test_where_the_background_is_unknown_roles_can_be_read_on_black_and_on_white(
    role: Role,
) -> None:
    letters = foreground(EITHER, role)
    assert letters is not None
    own = background(EITHER, role)
    for ground in (own,) if own else (BLACK, WHITE):
        assert contrast(seen(letters, "usual"), seen(ground, "usual")) >= 4.5
    for ground in () if own else (*DARKS, *LIGHTS):
        assert contrast(seen(letters, "usual"), seen(ground, "usual")) >= 3


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("theme", [DARK, LIGHT])
def test_roles_differ_from_plain_text_in_more_than_hue(theme: Theme, eyes: str) -> None:
    for role in ROLES:
        letters = foreground(theme, role)
        assert letters is not None
        for text in TEXTS[theme.name]:
            ratio = contrast(seen(letters, eyes), seen(text, eyes))
            assert attributes(theme, role) or ratio >= 1.25, role


# Pairs that a reader has to tell apart by their look; frames are lines, not letters.
@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("theme", [DARK, LIGHT, EITHER])
@pytest.mark.parametrize(
    ("one", "other"), [*combinations(("you", "note", "code", "heading", "link", "quote"), 2)]
)
def test_roles_differ_from_each_other_in_more_than_hue(
    theme: Theme, one: Role, other: Role, eyes: str
) -> None:
    if attributes(theme, one) == attributes(theme, other):
        pair = [foreground(theme, role) for role in (one, other)]
        assert None not in pair
        luminances = [seen(colour, eyes) for colour in pair if colour]
        assert contrast(*luminances) >= 1.25


def test_without_colours_weight_slant_and_underline_are_left() -> None:
    for environ in ({"TERM": "xterm-256color", "NO_COLOR": "1"}, {"TERM": "vt220"}, {}):
        assert theme_for("dark", environ) is MONO
    assert not any("38;" in sgr or "48;" in sgr for sgr in MONO.sgr.values())


@pytest.mark.parametrize(
    ("name", "environ", "theme"),
    [
        ("auto", XTERM, EITHER),
        ("auto", XTERM | {"COLORFGBG": "15;0"}, DARK),
        ("auto", XTERM | {"COLORFGBG": "0;default;15"}, LIGHT),
        ("auto", XTERM | {"COLORFGBG": "12;8"}, DARK),
        ("auto", {"TERM": "xterm", "COLORTERM": "truecolor"}, EITHER),
        ("light", XTERM | {"COLORFGBG": "15;0"}, LIGHT),
        ("mono", XTERM, MONO),
        ("dark", {"TERM": "dumb", "COLORTERM": "truecolor"}, PLAIN),
    ],
)
def test_a_theme_is_the_one_that_was_asked_for_or_that_fits(
    name: str, environ: dict[str, str], theme: Theme
) -> None:
    assert theme_for(name, environ) is theme


def test_painted_text_is_complete_in_itself() -> None:
    assert MONO.paint("x", Style("error", italic=True)) == "\x1b[1;3mx\x1b[0m"
    assert DARK.paint("x", Style()) == "x"
    assert DARK.paint("", Style("error")) == ""
    assert PLAIN.paint("x", Style("error", bold=True)) == "x"
