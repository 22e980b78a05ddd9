"""Numbers in texts; python-stdnum and phonenumbers, which do not ship, know what is valid."""

from __future__ import annotations

import random

import phonenumbers
import pytest
from stdnum import iban as stdnum_iban
from stdnum import luhn as stdnum_luhn
from stdnum.br import cpf
from stdnum.ca import sin
from stdnum.de import idnr
from stdnum.es import dni, nie
from stdnum.fr import nir
from stdnum.iso7064 import mod_11_10
from stdnum.it import codicefiscale
from stdnum.nl import bsn
from stdnum.pl import pesel
from stdnum.verhoeff import validate as verhoeff

from scripts.bench.redaction.values import spellings, values
from split_client.redaction import checks
from split_client.redaction.rules import regions, rules
from tests.split_client.redaction.finders import found, keys

IBAN = "DE89370400440532013000"
CARD = "4111111111111111"


@pytest.mark.parametrize("number", range(10))
def test_a_number_is_found_in_each_of_ten_spellings(number: int) -> None:
    assert keys("iban", f"to {spellings(IBAN)[number]}.") == [IBAN]
    assert keys("card", f"with {spellings(CARD)[number]}!") == [CARD]
    assert keys("phone", f"at {spellings('+491701234567')[number]}, please") == ["+49 1701234567"]
    national = keys("phone", f"at {spellings('01701234567')[number]}, please", ("DE",))
    assert national == ["+49 1701234567"]


@pytest.mark.parametrize(
    ("written", "regions", "key"),
    [
        ("+49 (0)170 / 123 45 67", (), "+49 1701234567"),
        ("0049-170-1234567", (), "+49 1701234567"),
        ("(415) 555-2671", (), "+1 4155552671"),
        ("1-415-555-2671", (), "+1 4155552671"),
        ("4155552671", ("US",), "+1 4155552671"),
        ("06.12.34.56.78", ("FR",), "+33 612345678"),
        ("06 12 34 56 78", (), "0 612345678"),
        ("612.345.678", ("ES",), "+34 612345678"),
        ("020 7946 0958", ("GB",), "+44 2079460958"),
        ("+39 06 698 12345", (), "+39 0669812345"),
        ("030 / 1234567", ("DE",), "+49 301234567"),
        ("0170.1234567", ("DE",), "+49 1701234567"),
    ],
)
def test_phone_numbers_are_found_as_they_are_written(
    written: str, regions: tuple[str, ...], key: str
) -> None:
    assert keys("phone", f"My number: {written}.", regions) == [key]


@pytest.mark.parametrize(
    "text",
    [
        "on 01.02.2003 at 10:00",
        "on 2003-02-01",
        "from 2019-2020",
        "at 192.168.100.200",
        "pi is 3.14159265",
        "it costs 12345678 EUR, or $ 1234567.89",
        "x1701234567 and 1701234567x",
        "0.12345678",
    ],
)
def test_other_numbers_are_no_phone_numbers(text: str) -> None:
    assert keys("phone", text, ("DE",)) == []


def test_a_card_ends_where_its_date_begins() -> None:
    assert keys("card", f"{CARD[:4]} {CARD[4:8]} {CARD[8:12]} {CARD[12:]} 12/27 123") == [CARD]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("57-4284 5562 0752 9371", "4284556207529371"),
        ("58531-2 2 2 1 9 6 1 8 9 1 7 9 7 4 6 8+ab", "2221961891797468"),
    ],
)
def test_digits_glued_before_a_card_make_no_other_one_of_it(text: str, key: str) -> None:
    assert keys("card", text) == [key]


@pytest.mark.parametrize(
    "text",
    [
        "x+0170 1234567",
        "191463/0170 1234567",
        "2.0170 1234567",
        "id7.01701234567",
        "0170 1234567€",
        "+49 170 1234567$x",
        "$01701234567",
        "%01701234567",
    ],
)
def test_what_is_glued_to_a_phone_number_hides_no_part_of_it(text: str) -> None:
    # Digits before it may become a part of it.
    (key,) = keys("phone", text, ("DE",))
    assert key.endswith("1701234567")


GLUE = "-/_+–—.:=#*~|,'()[&\\@;<>·"


def test_a_value_that_something_is_glued_to_is_found_whole() -> None:
    rng = random.Random(2)  # noqa: S311
    for value in values(150, 8):
        region = (value.region or "DE",)
        # Digits or a + before a number without a code can make another one of it.
        phone = value.kind == "phone"
        glued = ["x", "IBAN", "tel", "é"] + ([] if phone else ["7", "12"])
        glue = GLUE.replace("+", "") if phone else GLUE
        for written in spellings(value.written):
            before, behind = rng.choice(glued), rng.choice(glued)
            text = f"{before}{rng.choice(glue)}{written}{rng.choice(glue)}{behind} ok"
            seen = [key for _, key in found(text, region)]
            assert any(key.endswith(value.solid) for key in seen), (text, seen)


@pytest.mark.parametrize("between", [" ", "\n", ", ", " / "])
def test_numbers_that_follow_one_another_are_all_found(between: str) -> None:
    numbers = (
        "+49 170 1234567",
        CARD,
        "078-05-1120",
        "DE89 3704 0044 0532 0130 00",
        "+44 20 79460958",
    )
    for first in numbers:
        for second in numbers:
            if first != second:
                seen = [key for _, key in found(f"{first}{between}{second}")]
                assert len(seen) == 2, (first, between, second, seen)


def test_what_fails_its_check_is_no_iban_and_no_card() -> None:
    assert keys("iban", "DE88370400440532013000 1DE89370400440532013000") == []
    assert keys("iban", "IBANDE89370400440532013000") == [IBAN]
    assert keys("card", "4111111111111112") == []


def test_the_lengths_of_ibans_are_those_of_the_registry() -> None:
    for country, length in rules()["iban"].items():
        structure = stdnum_iban._ibandb.info(country)[0][1]
        if structure:
            bban = structure["bban"]
            parts = bban.replace("!", "").replace("n", " ").replace("a", " ").replace("c", " ")
            assert 4 + sum(map(int, parts.split())) == length, country


def test_checks_agree_with_stdnum() -> None:
    rng = random.Random(1)  # noqa: S311
    for _ in range(2000):
        digits = "".join(rng.choice("0123456789") for _ in range(11))
        assert checks.luhn(digits) == stdnum_luhn.is_valid(digits)
        assert checks.iso7064(digits) == mod_11_10.is_valid(digits)
        assert checks.cpf(digits) == cpf.is_valid(digits)
        assert checks.verhoeff(digits) == _holds(verhoeff, digits)
        assert _rule("pl-pesel", digits) == _weights_of_pesel(digits)
        assert _rule("nl-bsn", digits[:9]) == (_bsn(digits[:9]))


def _holds(check: object, digits: str) -> bool:
    try:
        check(digits)  # type: ignore[operator]
    except Exception:  # noqa: BLE001 - stdnum's own tree
        return False
    return True


def _rule(name: str, key: str) -> bool:
    rule = next(each for each in rules()["ids"] if each["name"] == name)
    return checks.holds(rule, key)


def _weights_of_pesel(digits: str) -> bool:
    return pesel.calc_check_digit(digits[:-1]) == digits[-1]


def _bsn(digits: str) -> bool:
    return bsn.checksum(digits) == 0


@pytest.mark.parametrize(
    ("module", "number", "name"),
    [
        (idnr, "36574261809", "de-idnr"),
        (dni, "54362315K", "es-dni"),
        (nie, "X2482300W", "es-nie"),
        (nir, "295109912611193", "fr-nir"),
        (codicefiscale, "RCCMNL83S18D969H", "it-cf"),
        (sin, "123456782", "ca-sin"),
    ],
)
def test_national_ids_of_stdnum_are_found(module: object, number: str, name: str) -> None:
    assert module.is_valid(number)  # type: ignore[attr-defined]
    written = "-".join((number[:3], number[3:6], number[6:])) if name == "ca-sin" else number
    assert keys("id", f"my id is {written}, yes", ("CA",)) == [number]
    assert _rule(name, number)


def test_what_libphonenumber_calls_valid_is_found_with_its_code_and_without() -> None:
    missed = set()
    for name, region in regions().items():
        example = phonenumbers.example_number(name)
        if example is None:
            continue
        national = phonenumbers.national_significant_number(example)
        if len(national) < 7:
            continue
        international = phonenumbers.format_number(
            example, phonenumbers.PhoneNumberFormat.INTERNATIONAL
        )
        assert keys("phone", f"call {international}!") == [f"+{region.code} {national}"], name
        local = phonenumbers.format_number(example, phonenumbers.PhoneNumberFormat.NATIONAL)
        # A number that is written as another country's id is one of those.
        seen = [key for _, key in found(f"call {local}!", (name,))]
        if not any(key.endswith(national) for key in seen):
            missed.add(name)
    # A second trunk prefix, or a mobile one, stands between.
    assert missed <= {"BY"}


def test_planted_values_are_found_in_all_their_spellings() -> None:
    for value in values(300, 5):
        for written in spellings(value.written):
            seen = [key for _, key in found(f"it is {written} now", (value.region or "DE",))]
            assert any(key.endswith(value.solid) for key in seen), (value, written)
