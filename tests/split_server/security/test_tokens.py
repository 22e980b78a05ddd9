"""Tokens and the principals they belong to."""

from __future__ import annotations

from pathlib import Path

import pytest

from split_server.security.tokens import (
    BadTokens,
    TokenBook,
    make_token,
    read_tokens,
    single_token,
)

_ALICE, _BOB = "alice-has-this-token", "bob-has-that-token-1"


def _file(path: Path, text: str) -> Path:
    (path / "tokens").write_text(text)
    return path / "tokens"


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_a_token_names_its_principal(scheme: str) -> None:
    book = TokenBook({_ALICE: "alice", _BOB: "bob"})
    assert book.identify(f"{scheme} {_BOB}") == "bob"


@pytest.mark.parametrize(
    "header",
    [None, "", "Bearer", "Bearer ", f"Basic {_ALICE}", _ALICE, f"Bearer {_ALICE}x", "Bearer \xff"],
)
def test_anything_else_names_nobody(header: str | None) -> None:
    assert TokenBook({_ALICE: "alice"}).identify(header) is None


def test_a_tokens_file_may_hold_several_tokens_of_one_name(tmp_path: Path) -> None:
    text = f"# people\n\nalice {_ALICE}\n  alice  other-token-of-alice \nbob {_BOB}\n"
    book = read_tokens(_file(tmp_path, text))
    assert book.identify(f"Bearer {_ALICE}") == "alice"
    assert book.identify("Bearer other-token-of-alice") == "alice"
    assert book.identify(f"Bearer {_BOB}") == "bob"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no token"),
        ("# only a comment\n", "holds no token"),
        ("alice\n", "line 1: write 'name token'"),
        (f"alice {_ALICE} extra\n", "line 1: behind a token may stand 'operator' and nothing"),
        (f"alice {_ALICE} Operator\n", "line 1: behind a token may stand 'operator'"),
        (f"alice {_ALICE} {_BOB}\n", "line 1: behind a token may stand 'operator'"),
        (f"bob {_BOB}\nalice {_ALICE} operator x\n", "line 2: write 'name token'"),
        ("alice short\n", "must have 16 to 512"),
        (f"local {_ALICE}\n", "reserved"),
        (f"a/b {_ALICE}\n", "a name is"),
        (f"alice {_ALICE}\nbob {_ALICE}\n", "line 2: this token is there twice"),
    ],
)
def test_a_bad_tokens_file_is_refused_without_showing_a_token(
    text: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(BadTokens, match=message) as caught:
        read_tokens(_file(tmp_path, text))
    assert _ALICE not in str(caught.value)


def test_a_missing_tokens_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadTokens, match="cannot read"):
        read_tokens(tmp_path / "absent")


def test_a_mark_is_that_of_its_token_and_not_of_the_name(tmp_path: Path) -> None:
    text = f"alice {_ALICE} operator\nalice other-token-of-alice\nbob {_BOB}\n"
    book = read_tokens(_file(tmp_path, text))
    marks = []
    for token in (_ALICE, "other-token-of-alice", _BOB):
        found = book.credential(f"Bearer {token}")
        assert found is not None
        marks.append((found.principal, found.operator))
    assert marks == [("alice", True), ("alice", False), ("bob", False)]


def test_a_mark_that_is_taken_away_leaves_the_token_as_it_was(tmp_path: Path) -> None:
    book = read_tokens(_file(tmp_path, f"alice {_ALICE} operator\n"))
    before = book.credential(f"Bearer {_ALICE}")
    book.take(read_tokens(_file(tmp_path, f"alice {_ALICE}\n")))
    after = book.credential(f"Bearer {_ALICE}")
    assert before is not None
    assert after is not None
    assert (before.operator, after.operator, book.holds(before)) == (True, False, True)
    assert before == after


def test_the_one_token_is_the_operators() -> None:
    found = single_token(_ALICE).credential(f"Bearer {_ALICE}")
    assert found is not None
    assert found.operator


@pytest.mark.parametrize("token", ["", "short", "with space in the token", "x" * 513])
def test_a_weak_or_unsendable_token_is_refused(token: str) -> None:
    with pytest.raises(BadTokens):
        single_token(token)


def test_made_tokens_differ_and_are_accepted() -> None:
    first, second = make_token(), make_token()
    assert first != second
    assert single_token(first).identify(f"Bearer {first}") == "owner"
