"""A tokens file that changes while the server runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from split_server.security.principal import Credential
from split_server.security.token_file import TokenFile
from split_server.security.tokens import BadTokens
from tests.pipes import pipe

_ALICE, _OTHER, _BOB = "alice-has-this-token", "alice-has-another-one", "bob-has-that-token-1"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "tokens").write_text(f"alice {_ALICE}\nalice {_OTHER}\nbob {_BOB}\n")
    return tmp_path / "tokens"


def _credential(book: TokenFile, token: str) -> Credential:
    found = book.credential(f"Bearer {token}")
    assert found is not None
    return found


def test_a_token_that_was_removed_is_nobodys(path: Path) -> None:
    book = TokenFile(path)
    bob = _credential(book, _BOB)
    path.write_text(f"alice {_ALICE}\nalice {_OTHER}\n")
    book.refresh()
    assert book.identify(f"Bearer {_BOB}") is None
    assert not book.holds(bob)
    assert not book.has("bob")


def test_of_two_tokens_of_one_name_the_other_one_stays(path: Path) -> None:
    book = TokenFile(path)
    gone, stays = _credential(book, _ALICE), _credential(book, _OTHER)
    path.write_text(f"alice {_OTHER}\n")
    book.refresh()
    assert (book.holds(gone), book.holds(stays), book.has("alice")) == (False, True, True)


def test_a_token_that_changes_its_name_lets_no_old_connection_stay(path: Path) -> None:
    book = TokenFile(path)
    before = _credential(book, _ALICE)
    path.write_text(f"carol {_ALICE}\n")
    book.refresh()
    assert not book.holds(before)
    assert book.identify(f"Bearer {_ALICE}") == "carol"


def test_a_token_that_was_added_is_let_in(path: Path) -> None:
    book = TokenFile(path)
    with path.open("a") as file:
        file.write("carol carol-has-a-token-too\n")
    book.refresh()
    assert book.identify("Bearer carol-has-a-token-too") == "carol"


@pytest.mark.parametrize("wrong", ["", "alice short\n", None])
def test_a_file_that_stays_broken_lets_nobody_in_until_it_is_mended(
    wrong: str | None, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    good = path.read_text()
    book = TokenFile(path)
    if wrong is None:
        path.unlink()
    else:
        path.write_text(wrong)
    book.refresh()
    assert book.identify(f"Bearer {_BOB}") == "bob"
    for _ in range(5):
        book.refresh()
        assert book.identify(f"Bearer {_BOB}") is None
    assert caplog.text.count("lets nobody in") == 1
    assert _ALICE not in caplog.text
    # Nobody is known to have no token.
    assert not book.readable
    path.write_text(good)
    book.refresh()
    assert book.readable
    assert book.identify(f"Bearer {_BOB}") == "bob"


def test_a_file_that_has_not_changed_is_not_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = TokenFile(path)

    def read(_: Path) -> None:
        raise AssertionError

    monkeypatch.setattr("split_server.security.token_file.read_tokens", read)
    book.refresh()
    assert book.has("bob")


def test_a_broken_file_ends_the_start(path: Path) -> None:
    path.write_text("nothing\n")
    with pytest.raises(BadTokens):
        TokenFile(path)


def test_a_pipe_gives_its_tokens_at_the_start_and_is_not_waited_for_again(path: Path) -> None:
    with pipe(path, f"bob {_BOB}\n".encode()):
        book = TokenFile(path)
    path.touch()
    book.refresh()
    book.refresh()
    assert book.has("bob")


def test_a_pipe_in_place_of_the_file_is_not_waited_for_and_lets_nobody_in(path: Path) -> None:
    book = TokenFile(path)
    with pipe(path, b"mallory mallory-has-this-one\n"):
        book.refresh()
        assert book.has("alice")
        book.refresh()
    assert not book.has("alice")
    assert not book.has("mallory")
