"""KoboldAI Lite's ways of asking and of reading, in a page of another origin that is allowed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from split_server.checkpoint.folder import EMBEDDED
from tests.server_process import RunningServer, running_server
from tests.web.kobold_lite.site import origin_of

_PAGE = Path(__file__).with_name("as_lite.html").read_bytes()
_PROMPT = "What is split inference?"
_WHOLE, _POLLED, _STREAMED = range(3)


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    with origin_of(_PAGE) as found:
        yield found


@pytest.fixture(scope="module")
def server(origin: str) -> Iterator[RunningServer]:
    with running_server(EMBEDDED, allow_origin=(origin,)) as running:
        yield running


@pytest.fixture(scope="module")
def lite(chromium: Browser, origin: str) -> Iterator[Page]:
    page = chromium.new_page()
    page.goto(f"{origin}/")
    yield page
    page.close()


def _asked(lite: Page, server: RunningServer, mode: int, **more: Any) -> dict[str, Any]:
    asked = [server.url, mode, _PROMPT, more]
    answer: dict[str, Any] = lite.evaluate("([...given]) => ask(...given)", asked)
    return answer


def test_it_finds_the_model_and_a_level_that_can_stream(lite: Page, server: RunningServer) -> None:
    found = lite.evaluate("base => connected(base)", server.url)
    assert found["model"] == server.parts.steps.info.name
    assert found["longest"] == server.parts.steps.info.max_context
    name, _, version = found["kobold"].partition(" ")
    assert name == "KoboldCpp"
    assert tuple(map(int, version.split("."))) >= (1, 40)


@pytest.mark.parametrize("mode", [_WHOLE, _POLLED, _STREAMED])
def test_a_reply_appears_in_each_of_its_modes(lite: Page, server: RunningServer, mode: int) -> None:
    told = _asked(lite, server, mode)
    assert told["text"].strip()
    assert told["text"] == _asked(lite, server, _WHOLE)["text"]
    assert told["shown"][-1] == told["text"]


@pytest.mark.parametrize("mode", [_POLLED, _STREAMED])
def test_the_reply_grows_before_the_eyes_of_its_reader(
    lite: Page, server: RunningServer, mode: int
) -> None:
    told = _asked(lite, server, mode, max_length=400, bypass_eos=True)
    shown = told["shown"]
    assert len(shown) > 2
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(shown))
