from __future__ import annotations

import pytest

from tests.split_client.redaction.finders import found


def names(text: str, *own: str) -> list[str]:
    return [key for kind, key in found(text, (), own) if kind in ("given", "family")]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Yesterday Anna Schmidt called.", ["anna", "schmidt"]),
        ("We met Dr. Oyelaran and Mrs Quux.", ["oyelaran", "quux"]),
        ("Frau Prof. Dr. Unbekannt ist da", ["unbekannt"]),
        ("Hans-Peter Müller-Lüdenscheidt", ["hans", "peter", "müller", "lüdenscheidt"]),
        ("Peter van der Berg left", ["peter", "berg"]),
        ("Schmidt, Anna and J. Johnson", ["schmidt", "anna", "johnson"]),
        ("Anna's book", ["anna"]),
        ("ANNA SCHMIDT", ["anna", "schmidt"]),
        ("Jose\u0301 García", ["josé", "garcía"]),
        ("Anna\nSchmidt", ["anna", "schmidt"]),
    ],
)
def test_names_are_found_by_titles_and_first_names(text: str, keys: list[str]) -> None:
    assert names(text) == keys


@pytest.mark.parametrize(
    "text",
    [
        "Will it rain in May? Mark my words.",
        "The server keeps rows of the table.",
        "In Berlin liegt Schnee, und der Koch ist da.",
        "Grace and Hope are words, as is Summer.",
    ],
)
def test_words_that_are_names_elsewhere_are_left_alone(text: str) -> None:
    assert names(text) == []


def test_in_german_a_noun_behind_a_first_name_is_no_surname() -> None:
    text = "Gestern hat Anna Kuchen gebacken, und der war gut."
    assert names(text) == ["anna"]
    assert names("Gestern hat Anna Kowalska gebacken, und der war gut.") == ["anna", "kowalska"]


def test_own_names_are_found_in_any_case_and_apart() -> None:
    own = "Ngozi Adichie"
    assert names("ngozi wrote to ADICHIE, Adichies wrote back", own) == [
        "ngozi",
        "adichie",
        "adichie",
    ]


def test_a_surname_is_known_once_it_stood_beside_a_first_name() -> None:
    from split_client.redaction.redactor import Redactor
    from split_client.redaction.settings import RedactionSettings

    redactor = Redactor(RedactionSettings())
    assert redactor.redacted("Bescheid von Wojcik.") == "Bescheid von Wojcik."
    redactor.redacted("Anna Wojcik called.")
    assert "Wojcik" not in redactor.redacted("Bescheid von Wojcik.")
