from __future__ import annotations

import getpass
import io

import pytest

from split_client.errors import ServerRefused
from split_client.terminal.input.token import with_token
from split_client.transport.bearer import authorization
from tests.split_client.terminal.consoles import FakeTty, RecordingScreen

RIGHT = "right"


def attempt(token: str | None) -> str:
    authorization(token)
    if token != RIGHT:
        raise ServerRefused("unauthorized", "the server's words")
    return "in"


def ask(
    monkeypatch: pytest.MonkeyPatch, typed: list[str], given: str | None = None
) -> tuple[str, str]:
    monkeypatch.setattr("sys.stdin", FakeTty())
    monkeypatch.setattr(getpass, "getpass", lambda _: typed.pop(0))
    screen = RecordingScreen()
    return with_token(given, screen, attempt), screen.noted


def test_a_person_is_asked_again_and_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    result, noted = ask(monkeypatch, ["mis typed", "mistyped", " right "])
    assert result == "in"
    assert noted.count("printable ASCII without spaces") == 1
    assert noted.count("refuses this token") == 1
    assert "mistyped" not in noted


@pytest.mark.parametrize(
    ("given", "typed", "words"),
    [("other", [RIGHT], "refuses this token"), (None, [""], "asks for a token and none is given")],
)
def test_a_given_token_or_giving_up_ends_it(
    monkeypatch: pytest.MonkeyPatch, given: str | None, typed: list[str], words: str
) -> None:
    with pytest.raises(ServerRefused, match=words) as caught:
        ask(monkeypatch, typed, given)
    assert caught.value.code == "unauthorized"


def test_nobody_is_asked_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(RIGHT))
    with pytest.raises(ServerRefused, match="SPLIT_CLIENT_TOKEN"):
        with_token(None, RecordingScreen(), attempt)


def test_other_refusals_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: str | None) -> str:
        raise ServerRefused("overloaded", "later")

    with pytest.raises(ServerRefused, match="later"):
        with_token(None, RecordingScreen(), full)
