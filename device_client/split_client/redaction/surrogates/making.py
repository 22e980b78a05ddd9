"""Attempts at a surrogate, until one is found that nothing can be mistaken for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Final, TypeAlias

from split_client.redaction.errors import RedactionExhausted
from split_client.redaction.finding.looked import Looked
from split_client.redaction.folding import fold, lower
from split_client.redaction.kinds import NAMES, NUMBERS, Found, Kind, number_of
from split_client.redaction.spelling import respelled
from split_client.redaction.squeezed import squeeze
from split_client.redaction.surrogates import numbers, phones, texts
from split_client.redaction.surrogates.draws import Draws

CountTokens: TypeAlias = Callable[[str], int]
MOST_ATTEMPTS: Final = 256
_COUNTED: Final = 64


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a surrogate must not be mistaken for: texts of the chat, and values and surrogates of
    its map. ``numbers``: in capitals, letters and digits alone; ``texts``: folded, in small
    letters; the others: those of the map, as keys.
    """

    numbers: Sequence[str]
    texts: Sequence[str]
    of_numbers: set[str]
    of_names: set[str]
    of_texts: set[str]


def spoken_in(text: str) -> tuple[str, str]:
    """The two forms of a text of the chat."""
    folded = fold(text).text
    return squeeze(folded).characters, lower(folded)


def surrogate(
    secret: bytes, found: Found, looked: Looked, spoken: Spoken, count: CountTokens
) -> str:
    """For the value that is ``found`` in ``looked``, of as many tokens if that can be had.

    Raises RedactionExhausted.
    """
    wanted = _tokens(count, found.written)
    best, least = None, -1
    for attempt, made in _attempts(secret, found, spoken):
        if attempt >= _COUNTED:
            if best is None:
                return made
            break
        if found.kind == "date":
            return made
        written = respelled(found.kind, made, looked, found.start, found.end)
        off = abs(_tokens(count, written) - wanted)
        if off == 0:
            return made
        if best is None or off < least:
            best, least = made, off
    if best is None:
        raise RedactionExhausted(found.kind)
    return best


def attempted(secret: bytes, kind: Kind, key: str, rule: str, attempt: int) -> str | None:
    """The surrogate of one attempt, refused or not; None where it could be somebody's."""
    draws = Draws(secret, kind, key, attempt)
    return _made(kind, Found(kind, key, 0, 0, "", rule), attempt, draws)


def is_attempt(secret: bytes, kind: Kind, key: str, rule: str, made: str) -> bool:
    """Whether ``made`` follows from the secret as a surrogate of the value ``key``."""
    try:
        return made != key and any(
            attempted(secret, kind, key, rule, attempt) == made for attempt in range(MOST_ATTEMPTS)
        )
    # A key that no value of the kind has.
    except (ValueError, IndexError, KeyError, RuntimeError):
        return False


def _attempts(secret: bytes, found: Found, spoken: Spoken) -> Iterator[tuple[int, str]]:
    """Those that are not refused."""
    for attempt in range(MOST_ATTEMPTS):
        made = attempted(secret, found.kind, found.key, found.rule, attempt)
        if made is not None and not _refused(found, made, spoken):
            yield attempt, made


def _made(kind: Kind, found: Found, attempt: int, draws: Draws) -> str | None:
    key, rule = found.key, found.rule
    match kind:
        case "iban":
            return numbers.iban(key, draws)
        case "card":
            return numbers.card(key, draws)
        case "id":
            return numbers.national_id(key, rule, draws)
        case "phone":
            return phones.phone(key, draws)
        case "email":
            return texts.email(draws)
        case "date":
            return texts.date(key, draws)
        case "street":
            return texts.street(key, rule, draws)
        case "place":
            return texts.place(rule, draws)
        case _:
            return texts.name(kind, key, attempt, draws)


def _refused(found: Found, made: str, spoken: Spoken) -> bool:
    if found.kind in NUMBERS:
        compared = number_of(found.kind, made)
        return (
            compared == number_of(found.kind, found.key)
            or any(compared in text for text in spoken.numbers)
            or _meets(compared, spoken.of_numbers)
        )
    compared = lower(fold(made).text)
    if compared == found.key or any(compared in text for text in spoken.texts):
        return True
    if found.kind in NAMES:
        alike = {compared, compared + "s", compared.removesuffix("s")}
        return not alike.isdisjoint(spoken.of_names)
    return _meets(compared, spoken.of_texts)


def _meets(made: str, others: Set[str]) -> bool:
    """Whether one is part of the other."""
    return any(made in other or other in made for other in others)


def _tokens(count: CountTokens, text: str) -> int:
    """As a word of a sentence has them."""
    return count(f" {text}")
