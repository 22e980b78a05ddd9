from __future__ import annotations

import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_client.redaction import checks
from split_client.redaction.errors import RedactionExhausted, RedactionInvalid
from split_client.redaction.kinds import GROUPS
from split_client.redaction.redactor import Redactor
from split_client.redaction.rules import rules
from split_client.redaction.settings import RedactionSettings, names_in_lines
from split_client.redaction.surrogates.making import attempted
from split_client.redaction.undoing.stream import Undo

SECRET = bytes(range(32))
LETTER = (
    "Dear Anna Schmidt, pay DE89 3704 0044 0532 0130 00 or card 4111-1111-1111-1111, call "
    "+49 170 1234567, mail anna@example.co.uk, visit Hauptstraße 12, 10115 Berlin, id 078-05-1120."
)


def redactor(**settings: Any) -> Redactor:
    return Redactor(RedactionSettings(**settings), SECRET)


def undone(made: Redactor, text: str) -> str:
    undo = Undo(made.surrogates, made.settings.regions)
    return undo.push(text) + undo.finish()


def test_nothing_of_a_letter_goes_out_and_all_of_it_comes_back() -> None:
    made = redactor()
    sent = made.redacted(LETTER)
    for value in ("Anna", "Schmidt", "3704", "4111", "1234567", "Hauptstr", "10115", "1120"):
        assert value not in sent
    assert undone(made, sent) == LETTER


def test_one_value_has_one_surrogate_in_all_spellings() -> None:
    made = redactor(regions=("DE",))
    numbers = (
        "+49 170 1234567",
        "0170/1234567",
        "0049 (0)170 12 34 567",
        "＋４９１７０１２３４５６７",
    )
    solid = {re.sub("[^0-9]", "", made.redacted(number))[-10:] for number in numbers}
    assert len(solid) == 1
    assert len(made.entries) == 1


def test_a_surrogate_is_spelled_as_its_value() -> None:
    sent = redactor().redacted("DE89 3704-0044\n0532.0130 00, de89370400440532013000")
    first, second = sent.split(", ")
    assert re.fullmatch(r"DE\d\d \d{4}-\d{4}\n\d{4}\.\d{4} \d\d", first)
    assert second == re.sub("[^0-9A-Z]", "", first).lower()


def test_surrogates_come_from_ranges_that_nobody_has() -> None:
    made = redactor(regions=("GB",))
    made.redacted(
        "GB82 WEST 1234 5698 7654 32, 4111111111111111, 020 7946 0958, a@b.example, 078-05-1120"
    )
    found = {entry.kind: entry.surrogate for entry in made.entries}
    assert found["iban"].startswith("GB")
    assert found["iban"][4:8] == "XXXX"
    assert checks.iban(found["iban"])
    assert found["card"].startswith("9999")
    assert checks.luhn(found["card"])
    assert found["phone"].startswith("+44 2079460")
    assert re.search("@example[.](com|net|org)$", found["email"])
    assert found["id"].startswith("666")


@pytest.mark.parametrize("each", rules()["fiction"], ids=lambda each: str(each["prefix"]))
def test_numbers_for_fiction_have_the_length_that_they_say(each: dict[str, Any]) -> None:
    assert len(each["prefix"]) <= each["length"]
    assert each["prefix"].isdecimal()


def test_no_surrogate_occurs_in_the_chat() -> None:
    first = attempted(SECRET, "given", "anna", "", 0)
    made = redactor()
    sent = made.redacted("Anna is here.", (f"{first} was there",))
    assert first is not None
    assert first not in sent


def test_a_surrogate_that_is_typed_gets_one_of_its_own() -> None:
    made = redactor()
    made.redacted("Anna is here.")
    (anna,) = made.entries
    sent = made.redacted(f"{anna.surrogate} is here, too.")
    assert anna.surrogate not in sent
    assert undone(made, sent) == f"{anna.surrogate} is here, too."


def test_as_many_tokens_are_looked_for() -> None:
    made = Redactor(RedactionSettings(), SECRET, count=len)
    assert len(made.redacted("Johannes")) == len("Johannes")


def test_other_secrets_give_other_surrogates() -> None:
    one, other = Redactor(RedactionSettings(), SECRET), Redactor(RedactionSettings())
    assert one.redacted(LETTER) != other.redacted(LETTER)
    assert one.redacted(LETTER) == redactor().redacted(LETTER)


def test_where_no_surrogate_is_left_nothing_is_changed() -> None:
    made = redactor()
    every = [attempted(SECRET, "card", "4111111111111111", "", n) or "" for n in range(256)]
    with pytest.raises(RedactionExhausted):
        made.redacted("Anna has 4111111111111111.", every)
    assert len(made.entries) == 0


def test_a_preview_is_what_goes_out_and_changes_nothing() -> None:
    made = redactor()
    preview, replaced = made.preview(LETTER)
    assert len(made.entries) == 0
    assert made.redacted(LETTER) == preview
    assert len(replaced) == len(made.entries)


def test_dates_are_left_alone_unless_they_are_asked_for() -> None:
    text = "born 3.4.1987, that is April 3rd, 1987, or 1987-04-03"
    assert redactor().redacted(text) == text
    made = redactor(groups=frozenset(GROUPS))
    sent = made.redacted(text)
    assert "1987" not in sent or "3.4." not in sent
    assert len(made.entries) == 1
    assert undone(made, sent) == text


@pytest.mark.parametrize(
    "settings",
    [
        {"groups": frozenset({"pets"})},
        {"regions": ("XX",)},
        {"regions": ("de",)},
        {"names": ("...",)},
        {"names": ("x" * 300,)},
        {"names": ("Anna",) * 5001},
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(RedactionInvalid) as refused:
        RedactionSettings(**settings)
    assert refused.value.code == "redaction_invalid"


def test_a_file_of_names_has_one_person_a_line() -> None:
    lines = ["# colleagues", "", " Anna Schmidt ", "Ngozi"]
    assert names_in_lines(lines) == ("Anna Schmidt", "Ngozi")


WORDS = st.sampled_from(
    [
        "Anna", "Schmidt", "DE89 3704 0044 0532 0130 00", "4111111111111111", "+49 170 1234567",
        "a@b.example", "Hauptstraße 12", " ", "\n", ", ", "Dr. ", "the ", "½", "e\u0301", "Ｆ", "-",
        "ANNA", "078-05-1120", "0", "'s", "\u200b",
    ]
)  # fmt: skip


@given(st.lists(WORDS, max_size=20).map(" ".join))
def test_no_words_around_it_let_a_number_through(text: str) -> None:
    made = redactor()
    sent = made.redacted(text)
    assert sent == made.redacted(text)
    for part in ("DE89 3704", "41111", "1234567", "a@b"):
        assert part not in sent


@pytest.mark.parametrize("part", ["1 ", "1,", "1.", "A", "A ", "a@", "DE89 ", "+49 1", "1-", "'"])
def test_a_long_text_takes_time_in_proportion_to_its_length(part: str) -> None:
    made = redactor(groups=frozenset(GROUPS), regions=("DE", "US"))
    began = time.process_time()
    made.redacted(part * 50_000)
    assert time.process_time() - began < 15


@given(st.text(max_size=200))
def test_any_text_goes_out(text: str) -> None:
    redactor(groups=frozenset(GROUPS), regions=("DE",)).redacted(text)
