"""Texts with which reuse is checked where a request brings none: prose, a list, a program."""

from __future__ import annotations

_PROSE = (
    "The device keeps the tokenizer, the embedding table and the head of the model; the server has "
    "the layers in between. A row for every token travels there, and a state for the last one "
    "comes back, of which the device chooses the next token. What the server has computed for a "
    "conversation stays with it for a while, so that the next message sends only what is new. "
)
_LIST = "".join(f"{number}. The square of {number} is {number * number}.\n" for number in range(24))
_PROGRAM = """def primes(limit):
    found = []
    for number in range(2, limit):
        if all(number % prime for prime in found if prime * prime <= number):
            found.append(number)
    return found


def sums(numbers):
    total, sums = 0, []
    for number in numbers:
        total += number
        sums.append(total)
    return sums


print(sums(primes(100)))
"""
BUILT_IN = (2 * _PROSE, _LIST, _PROGRAM)
