from __future__ import annotations

import pytest

from split_client.terminal.output.markdown.stream import MarkdownStream
from split_client.terminal.output.markdown.table import fitted
from split_client.terminal.output.theme import DARK
from split_client.terminal.output.width import measure
from tests.split_client.terminal.output.markdown.streams import plain, shown

TABLE = "| Name | Bytes |\n|:--|--:|\n| up | 1,024 |\n| down | 東 |\n"


def test_columns_are_aligned() -> None:
    assert shown(TABLE + "\nafter") == [
        "Name │ Bytes",
        "─────┼──────",
        "up   │ 1,024",
        "down │    東",
        "",
        "after",
    ]


def test_long_cells_are_wrapped_in_their_column() -> None:
    lines = shown("| A | B |\n|---|---|\n| one two three four | x |", 14)
    assert [line.rstrip() for line in lines] == [
        "A          │ B",
        "───────────┼──",
        "one two    │ x",
        "three four │",
    ]


def test_where_the_columns_have_no_room_each_row_is_a_few_lines() -> None:
    header = "| Name | Of what | Number | Unit |\n|-|-|-|-|\n"
    row = "| something | anything else | a thousand | kilobytes |"
    assert shown(header + row, 24) == [
        "Name: something",
        "Of what: anything else",
        "Number: a thousand",
        "Unit: kilobytes",
        "",
    ]


def test_cells_too_many_or_too_few_lose_nothing() -> None:
    lines = shown("| A | B |\n|-|-|\n| 1 |\n| 1 | 2 | 3 |")
    assert [line.rstrip() for line in lines[2:]] == ["1 │", "1 │ 2 | 3"]


def test_bars_in_code_and_escaped_ones_end_no_cell() -> None:
    lines = shown("| A | B |\n|-|-|\n| `a|b` | c\\|d |")
    assert lines[-1] == "a|b │ c|d"


def test_what_looks_like_a_table_and_is_none_comes_out_as_text() -> None:
    assert shown("| a | b\n| c | d") == ["| a | b", "| c | d"]
    assert shown("| a |") == ["| a |"]
    assert shown("| a |\ntext") == ["| a |", "text"]


def test_a_long_table_is_shown_row_by_row_once_its_columns_are_known() -> None:
    stream = MarkdownStream(39, measure, DARK)
    stream.feed("| A | B |\n|---|---|\n")
    rows = [plain(stream.feed(f"| {n} | x |\n")) for n in range(20)]
    assert not any(rows[:11])
    assert rows[11].count("\n") == 14
    assert rows[15].split() == ["15", "│", "x"]


@pytest.mark.parametrize(
    ("natural", "room", "widths"),
    [
        ([3, 4], 20, [3, 4]),
        ([3, 40], 20, [3, 17]),
        ([40, 40], 20, [10, 10]),
        ([40, 40, 40], 20, []),
        ([0, 5], 20, [1, 5]),
    ],
)
def test_narrow_columns_keep_their_width_and_wide_ones_share(
    natural: list[int], room: int, widths: list[int]
) -> None:
    assert fitted(natural, room) == widths
