"""Multiples that a schema asks for: the grammar library makes a state for each remainder.

Its cost is linear in the least common multiple of all ``multipleOf`` that hold at once, so that one
number of ten digits takes minutes and gigabytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

from split_client.grammar.errors import GrammarInvalid
from split_client.grammar.schema import Schema, nodes, resolved

# Compiled in about 50 ms.
MAX_MULTIPLE: Final = 10_000
# What a schema that refers to itself over and over holds beyond these is not looked at.
_MAX_VISITS: Final = 20_000
# A number is finite and has at most so many digits.
_LARGEST: Final = 1e15


def check_multiples(rules: Schema) -> None:
    """Refuse what asks for multiples of too large a number at once. Raises GrammarInvalid.

    Numbers in different branches of a choice, which may hold at once, are not added up here.
    """
    visits = 0
    for node in nodes(rules):
        common = Fraction(0)
        for part in _at_once(rules, node):
            visits += 1
            if visits > _MAX_VISITS:
                return
            number = _multiple(part)
            if number:
                common = _common(common, number)
        if common.numerator > MAX_MULTIPLE:
            raise GrammarInvalid(
                f"its multipleOf, alone or with others under allOf, comes to multiples of a number "
                f"above {MAX_MULTIPLE}; use smaller ones"
            )


def _at_once(rules: Schema, node: Schema) -> Iterator[Schema]:
    """``node`` and all that holds for the same value whatever it is."""
    waiting, seen = [node], set[int]()
    while waiting:
        part: Any = waiting.pop()
        if not isinstance(part, dict) or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        every = part.get("allOf")
        waiting += every if isinstance(every, list) else []
        waiting.append(resolved(rules, part.get("$ref")))


def _multiple(part: Schema) -> Fraction:
    """Zero for none, and for what the library refuses itself."""
    number = part.get("multipleOf")
    if isinstance(number, bool) or not isinstance(number, int | float):
        return Fraction(0)
    # The library's numbers are decimal: 0.1 is a tenth.
    return Fraction(str(number)) if 0 < number <= _LARGEST else Fraction(0)


def _common(first: Fraction, second: Fraction) -> Fraction:
    """The least common multiple."""
    if not first:
        return second
    numerator = math.lcm(first.numerator, second.numerator)
    return Fraction(numerator, math.gcd(first.denominator, second.denominator))
