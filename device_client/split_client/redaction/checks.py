"""Check digits, from the standards and authorities that define them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from split_client.redaction.rules import pattern

_LETTERS_OF_DNI: Final = "TRWAGMYFPDXBNJZSQVHLCKE"
_ODD: Final = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25)
_CODICE: Final = (*_ODD, 24, 23)
_TURNED: Final = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)


def luhn(digits: str) -> bool:
    """ISO/IEC 7812-1, annex B."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def iban(key: str) -> bool:
    """ISO 13616: mod 97 of ISO/IEC 7064 over the characters, the first four moved to the end."""
    return iban_remainder(key) == 1


def iban_remainder(key: str) -> int:
    return int("".join(str(int(character, 36)) for character in key[4:] + key[:4])) % 97


def mod97(digits: str) -> bool:
    """The last two digits are 97 less the remainder of those before (France, Belgium)."""
    return 97 - int(digits[:-2]) % 97 == int(digits[-2:])


def mod97_of_2000(digits: str) -> bool:
    """The same for Belgians born since 2000, whose number has a 2 put before it."""
    return mod97(digits) or 97 - int("2" + digits[:-2]) % 97 == int(digits[-2:])


def iso7064(digits: str) -> bool:
    """ISO/IEC 7064, mod 11,10."""
    check = 5
    for digit in digits:
        check = ((check or 10) * 2 % 11 + int(digit)) % 10
    return check == 1


def verhoeff(digits: str) -> bool:
    """Verhoeff 1969: the dihedral group of ten elements."""
    check = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit)
        for _ in range(place % 8):
            value = _TURNED[value]
        check = _dihedral(check, value)
    return check == 0


def _dihedral(a: int, b: int) -> int:
    if a < 5:
        return (a + b) % 5 if b < 5 else 5 + (a + b) % 5
    return 5 + (a - b) % 5 if b < 5 else (a - b) % 5


def cpf(digits: str) -> bool:
    """Brazil: two check digits of modulus 11; a number of one digit alone is none."""
    if len({*digits}) == 1:
        return False
    return all(
        sum(int(digits[i]) * (n + 1 - i) for i in range(n)) * 10 % 11 % 10 == int(digits[n])
        for n in (9, 10)
    )


def letter23(key: str) -> bool:
    """Spain: the letter of the number modulo 23; X, Y, Z before a number are 0, 1, 2."""
    digits = key[:-1].translate(str.maketrans("XYZ", "012"))
    return digits.isdecimal() and _LETTERS_OF_DNI[int(digits) % 23] == key[-1]


def codice(key: str) -> bool:
    """Italy: a letter of the sum of values by odd and even places."""
    total = 0
    for place, character in enumerate(key[:-1]):
        value = int(character) if character.isdecimal() else ord(character) - 65
        total += value if place % 2 else _CODICE[value]
    return chr(65 + total % 26) == key[-1]


_CHECKS: Final[dict[str, Callable[[str], bool]]] = {
    "none": lambda _: True,
    "luhn": luhn,
    "mod97": mod97,
    "mod97_of_2000": mod97_of_2000,
    "iso7064": iso7064,
    "verhoeff": verhoeff,
    "cpf": cpf,
    "letter23": letter23,
    "codice": codice,
}


def holds(rule: Mapping[str, Any], key: str) -> bool:
    """Whether ``key``, of the rule's pattern, passes its check and is none of ``not``."""
    if any(re.search(pattern(each), key) for each in rule.get("not", ())):
        return False
    if rule["check"] == "weights":
        pairs = zip(key, rule["weights"], strict=True)
        total = sum(int(digit) * int(weight) for digit, weight in pairs)
        return total % int(rule["mod"]) == 0
    return _CHECKS[rule["check"]](key)
