from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_client.redaction.folding import fold, lower


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("ＤＥ８９", "DE89"),
        ("a\tb\u00a0c\u2009d", "a b c d"),
        ("1\u20112\u22123", "1-2-3"),
        ("٠١٢ ۳۴ ५", "012 34 5"),
        ("Jose\u0301", "José"),
        ("1\u200b2\u00ad3\ufe0f\u20e3", "123"),
        ("a\r\nb\u2028c", "a\n\nb\nc"),
        ("½", "1/2"),
    ],
)
def test_spellings_that_look_alike_become_one(written: str, folded: str) -> None:
    assert fold(written).text == folded


@given(st.text())
def test_every_folded_character_knows_where_it_comes_from(text: str) -> None:
    folded = fold(text)
    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    assert all(0 <= a < b <= len(text) for a, b in zip(folded.starts, folded.ends, strict=True))
    assert list(folded.starts) == sorted(folded.starts)


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_ascii_is_folded_as_any_other_text(text: str) -> None:
    assert fold(text).text == fold(text + "é").text[:-1]


@given(st.text())
def test_small_letters_are_as_many(text: str) -> None:
    assert len(lower(text)) == len(text)
