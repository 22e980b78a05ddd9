from __future__ import annotations

import pytest

from split_client.adapters.choice import AdapterInfo, choose


def adapter(name: str, *keywords: str) -> AdapterInfo:
    return AdapterInfo(name, "", 4, 8, 1.0, keywords, False)


BANKING = adapter("banking", "bank", "loan", "bank account", "two-factor authentication")
GARDEN = adapter("garden", "rose", "bank", "compost heap")
BOTH = (BANKING, GARDEN)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("What is a LOAN?", "banking"),
        ("my bank's account", "banking"),
        ("a bank   ACCOUNT\nplease", "banking"),
        ("how does two factor authentication work", "banking"),
        ("bank of roses: a rose on a bank, a compost heap", "garden"),
        ("a bank", "banking"),
        ("loans and bankers", None),
        ("", None),
        ("?!", None),
    ],
)
def test_the_adapter_with_the_most_whole_keywords_is_chosen(text: str, name: str | None) -> None:
    chosen = choose(text, BOTH)
    assert (None if chosen is None else chosen.name) == name


def test_a_keyword_counts_once() -> None:
    assert choose("rose, compost heap; loan loan loan", BOTH) is GARDEN


def test_keywords_without_words_choose_nothing() -> None:
    assert choose("anything? ...", [adapter("odd", "?", "...", " ")]) is None


def test_words_of_other_scripts_are_matched_in_any_case() -> None:
    assert choose("Was ist eine ÜBERWEISUNG?", [adapter("de", "Überweisung")]) is not None
    assert choose("STRASSE", [adapter("de", "straße")]) is not None
