"""Values that nobody has, in the spellings in which people and forms write them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

_FULL_WIDTH: Final = str.maketrans("0123456789", "０１２３４５６７８９")
_ARABIC: Final = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")


def grouped(text: str, gap: str) -> str:
    """Fours, with a gap between."""
    return gap.join(text[at : at + 4] for at in range(0, len(text), 4))


SPELLINGS: Final[Mapping[str, Callable[[str], str]]] = {
    "plain": lambda text: text,
    "spaces": lambda text: grouped(text, " "),
    "dashes": lambda text: grouped(text, "-"),
    "dots": lambda text: grouped(text, "."),
    "full width": lambda text: text.translate(_FULL_WIDTH),
    "over a line break": lambda text: grouped(text, "\n"),
    "no-break spaces": lambda text: grouped(text, "\u00a0"),
    "arabic": lambda text: grouped(text.translate(_ARABIC), " "),
    "unseen characters": lambda text: grouped(text, "\u200b"),
    "dashes of print": lambda text: grouped(text, " \u2013 "),
}


def numbers(draw: random.Random) -> Iterator[tuple[str, str]]:
    """Numbers without end as (what is secret, text): an IBAN, a card, a phone in turns."""
    while True:
        rest = "".join(draw.choice("0123456789") for _ in range(18))
        iban = f"DE{98 - int(rest + '131400') % 97:02}{rest}"
        yield iban, iban
        card = "4" + "".join(draw.choice("0123456789") for _ in range(14))
        card += next(last for last in "0123456789" if _luhn(card + last))
        yield card, card
        phone = "30" + draw.choice("456789") + "".join(draw.choice("0123456789") for _ in range(7))
        yield phone, f"+49{phone}"


def _luhn(digits: str) -> bool:
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(each - 9 if each > 9 else each for each in doubled) % 10 == 0


def squeezed(text: str) -> str:
    """Letters and digits alone, in one spelling."""
    plain = {other: digit for table in (_FULL_WIDTH, _ARABIC) for digit, other in table.items()}
    return re.sub("[^0-9A-Za-z]", "", text.translate(plain)).upper()
