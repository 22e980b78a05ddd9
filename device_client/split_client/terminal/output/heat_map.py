"""A chat with every token as bright as the attention it gets, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TypeAlias

from split_client.chat.attended import Attended, Passage, Span
from split_client.terminal.output.brightness import level, styled
from split_client.terminal.output.sanitise import Sanitiser
from split_client.terminal.output.wrap import Wrapper

Cell: TypeAlias = tuple[str, int | None]
"""A character and its level, None for no level."""

_JOINER = "\u200d"
_LEADS = {"user": "> ", "assistant": "", "system": "system: "}
_FEWEST_PASSAGES = 2


def heat_map(
    attended: Attended, columns: int, rows: int, measure: Callable[[str], int]
) -> tuple[list[str], int]:
    """Styled lines of at most ``columns``, and how many messages have no room in ``rows``.

    The last two messages are always there. ``measure`` tells the columns of a text.
    """
    lines: list[str] = []
    for shown, passage in enumerate(reversed(attended.passages)):
        more = _passage(passage, attended.strongest, columns, measure)
        if shown >= _FEWEST_PASSAGES and len(lines) + len(more) > rows:
            return lines, len(attended.passages) - shown
        lines = more + lines
    return lines, 0


def _passage(
    passage: Passage, largest: float, columns: int, measure: Callable[[str], int]
) -> list[str]:
    lead = _LEADS.get(passage.role, f"{passage.role}: ")
    hang = " " * min(len(lead), 2)
    lines = shaded(_levels(passage.spans, largest), columns - len(lead), measure)
    return [(hang if index else lead) + line for index, line in enumerate(lines)]


def shaded(
    spans: Iterable[tuple[str, int | None]], columns: int, measure: Callable[[str], int]
) -> list[str]:
    """Texts, each at its level, in styled lines of at most ``columns``."""
    cells = _cells(spans, measure)
    return [_line(line) for line in _wrapped(cells, columns, measure)]


def _levels(spans: Iterable[Span], largest: float) -> Iterator[tuple[str, int | None]]:
    for span in spans:
        yield span.text, None if span.weight is None else level(span.weight, largest)


def _cells(spans: Iterable[tuple[str, int | None]], measure: Callable[[str], int]) -> list[Cell]:
    """Harmless characters; what joins the one before it to one glyph takes over its level."""
    sanitiser, cells = Sanitiser(), list[Cell]()
    for text, own in spans:
        for character in filter(sanitiser.feed, text):
            joins = character not in "\n\t" and measure(character) == 0
            joins = joins or (bool(cells) and cells[-1][0] == _JOINER)
            cells.append((character, cells[-1][1] if joins and cells else own))
    return cells


def _wrapped(cells: list[Cell], columns: int, measure: Callable[[str], int]) -> list[list[Cell]]:
    """Lines that break where those of a streamed reply do."""
    wrapper = Wrapper(columns, measure)
    text = wrapper.feed("".join(character for character, _ in cells)) + wrapper.flush()
    lines, at = [list[Cell]()], 0
    for character in text:
        if character != "\n":
            lines[-1].append(cells[at])
            at += 1
            continue
        lines.append([])
        # A break within a long word takes no character's place.
        at += at < len(cells) and cells[at][0] in " \n"
    return lines


def _line(cells: list[Cell]) -> str:
    runs = groupby(cells, key=lambda cell: cell[1])
    return "".join(styled("".join(character for character, _ in run), at) for at, run in runs)
