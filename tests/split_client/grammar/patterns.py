"""Regular expressions and Lark grammars made at random, whose texts Python's ``re`` can check."""

from __future__ import annotations

from random import Random

from split_client.grammar.form import Form, Lark, Regex

_ATOMS = ("[a-z]", "[A-Z]", "[0-9]", "ab", "x y", "ü", "-", "[aeiou]", "\\.", "(red|green|blue)")
_COUNTS = ("", "", "?", "*", "+", "{2}", "{1,3}", "{0,4}", "{3,}")


def random_pattern(seed: int, depth: int = 1) -> str:
    """Without look-around, and with an end that is never far."""
    return _sequence(Random(seed), depth)  # noqa: S311


def random_form(seed: int) -> tuple[Form, str]:
    """A regular expression, or a grammar of the same texts, and the pattern of these."""
    random, pattern = Random(seed), random_pattern(seed)  # noqa: S311
    if random.random() < 0.5:
        return Regex(pattern), pattern
    other = random_pattern(seed + 1)
    lark = f'start: "<" first ("; " second)* ">"\nfirst: /{pattern}/\nsecond: /{other}/\n'
    return Lark(lark), f"<(?:{pattern})(?:; (?:{other}))*>"


def _sequence(random: Random, depth: int) -> str:
    parts = [_part(random, depth) for _ in range(random.randint(1, 3))]
    # A text of no character is none.
    return "".join([*parts, random.choice(("[0-9]", "z"))])


def _part(random: Random, depth: int) -> str:
    if depth == 0 or random.random() < 0.6:
        atom = random.choice(_ATOMS)
        return f"(?:{atom}){random.choice(_COUNTS)}"
    branches = "|".join(_sequence(random, depth - 1) for _ in range(random.randint(1, 3)))
    return f"(?:{branches}){random.choice(_COUNTS)}"
