"""`grammar` of KoboldCpp, over each way to generate."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.patience import until
from tests.server_process import RunningServer, running_server
from tests.split_server.http.kobold.client import GENERATE, JSON_SOCKET, ask, events, post, socket

FORM = 'root ::= ("left" | "right") " " [0-9] [0-9]?'
_OVERLOADED = 503
PATTERN = "(left|right) [0-9]{1,2}"


@pytest.fixture(scope="module")
def server(tiny_path: Path) -> Iterator[RunningServer]:
    with running_server(tiny_path) as running:
        yield running


def refused(server: RunningServer, grammar: str) -> tuple[int, str]:
    """Status and code; a busy machine may take longer to read a grammar than one request waits."""
    answers: list[httpx.Response] = []

    def answered() -> bool:
        answers.append(client.post(GENERATE, json={"prompt": "Go ", "grammar": grammar}))
        return answers[-1].status_code != _OVERLOADED

    with server.client() as client:
        until(answered)
    return answers[-1].status_code, answers[-1].json()["error_code"]


def test_replies_are_texts_of_the_grammar(server: RunningServer) -> None:
    asked = {"prompt": "Go ", "max_length": 40, "grammar": FORM, "temperature": 1, "seed": 3}
    results = post(server, GENERATE, **asked, num_samples=2)["results"]
    assert all(re.fullmatch(PATTERN, result["text"]) for result in results)
    with socket(server, JSON_SOCKET) as connection:
        assert ask(connection, **asked)[-1]["type"] == "done"


def test_a_grammar_that_cannot_be_followed_is_refused(server: RunningServer) -> None:
    for grammar, code in (
        ("root = 3", "FORM_INVALID"),
        ('start: "a" start', "FORM_ENDLESS"),
    ):
        assert refused(server, grammar) == (400, code)
    assert events(server, prompt="Go ", max_length=2, grammar="")
