"""Where a prompt is cut into chunks, and that it is cut the same way wherever the text lies."""

from __future__ import annotations

import random

from split_client.generation.documents.cutting import Cutter, places
from split_wire.documents.chunks import LONGEST, SHORTEST

END, CONTROL = 1, 0


class Words:
    """0 is a control token, 1 a line end, 2 an empty line, 3 a space, all else words."""

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        texts = {0: "" if skip_special_tokens else "<control>", 1: "\n", 2: "\n\n", 3: " "}
        return "".join(texts.get(token, f"word{token}") for token in ids)


def words(count: int, seed: int = 0) -> list[int]:
    draw = random.Random(seed)  # noqa: S311 - tokens, not a secret
    return [draw.randrange(10, 50_000) for _ in range(count)]


def cut(tokens: list[int], *texts: list[int]) -> list[tuple[int, int]]:
    return [(each.start, each.end) for each in Cutter(Words()).chunks(tokens, texts)]


def test_paragraphs_are_chunks_and_short_ones_go_with_those_that_follow() -> None:
    text = [*words(80), 2, *words(30), END, 3, END, *words(50), 2, *words(64)]
    assert cut(text) == [(0, 81), (81, 165), (165, 229)]
    assert cut([*words(80), END, *words(80)]) == [(0, 161)]
    assert cut(words(SHORTEST - 1)) == []
    assert cut([]) == []


def test_messages_end_at_control_tokens_and_what_is_left_over_is_in_none() -> None:
    text = [CONTROL, *words(70), CONTROL, *words(70), 2, *words(20), CONTROL, CONTROL, *words(9)]
    assert cut(text) == [(1, 71), (72, 143)]


def test_a_long_paragraph_is_cut_at_the_ends_of_its_lines_else_where_it_is_too_long() -> None:
    lines = [token for _ in range(5) for token in [*words(299), END]]
    assert cut(lines) == [(0, 900), (900, 1500)]
    assert cut(words(2 * LONGEST + 10)) == [(0, LONGEST), (LONGEST, 2 * LONGEST)]
    assert cut([*words(2 * LONGEST + 70), END, *words(80)])[-1] == (2 * LONGEST, 2 * LONGEST + 151)


def test_texts_that_were_given_apart_end_where_they_end() -> None:
    part, other = words(100, 1), words(90, 2)
    text = [*words(70, 3), *part, *words(70, 4), *other, *words(70, 5)]
    assert places(text, [part, other]) == [(71, 169), (241, 329)]
    assert cut(text, part, other) == [(0, 71), (71, 169), (169, 241), (241, 329), (329, 400)]
    # Not in this order, not there, or too short.
    assert places(text, [other, part, words(100, 9), other[:50]]) == [(241, 329)]
    # The bytes of tokens are looked for at whole tokens alone.
    assert places([1 << 8] * 200, [[1] * 100]) == []


def test_an_insertion_leaves_the_other_chunks_what_they_are() -> None:
    draw = random.Random(1)  # noqa: S311 - a test
    parts = [[*words(draw.randrange(64, 300), seed), 2] for seed in range(12)]
    before = [token for part in parts for token in part]
    after = [
        *words(37, 99),
        2,
        *(token for part in [*parts[:5], [*words(90, 98), 2], *parts[5:]] for token in part),
    ]
    old, new = ([tuple(text[a:b]) for a, b in cut(text)] for text in (before, after))
    assert len({*old} & {*new}) >= 11
    for chunks in (cut(before), cut(after)):
        assert all(SHORTEST <= end - start <= LONGEST for start, end in chunks)
