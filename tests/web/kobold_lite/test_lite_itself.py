"""KoboldAI Lite's page itself, unchanged, on another origin that the server allows.

The page is in no package index, so ``GATELINK_KOBOLD_LITE`` names a copy of its ``index.html``
(github.com/LostRuins/lite.koboldai.net). What it says and does is asked of it as its users would.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from split_server.checkpoint.folder import EMBEDDED
from split_server.compat.backend import EngineBackend
from tests import patience
from tests.server_process import RunningServer, running_server
from tests.web.kobold_lite.site import origin_of

_SWITCH = "GATELINK_KOBOLD_LITE"
_COPY = os.environ.get(_SWITCH)
TOKEN = "a-token-of-the-test"
_QUESTION = "What is split inference?"
_WHOLE, _POLLED, _STREAMED = range(3)
# Of what it shows: the story is the question, and then the reply on a line of its own.
_WATCH = """() => {
    const story = document.getElementById('gametext');
    const shown = window.shownByLite = [];
    const look = () => { if (shown.at(-1) !== story.innerText) shown.push(story.innerText); };
    const all = {childList: true, subtree: true, characterData: true};
    new MutationObserver(look).observe(story, all);
}"""
# Its own settings; a reply goes on to its length, so that there is something to watch.
_SET = """([mode, ends, length]) => {
    restart_new_game(false);
    Object.assign(localsettings, {tokenstreammode: mode, eos_ban_mode: ends, max_length: length});
}"""
_DEFAULT, _BYPASS = 0, 3
# The page looks twice a second, and the embedded model has written by then.
_STEP_SECONDS = 0.1

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(_COPY is None, reason=f"{_SWITCH} names a copy of the page"),
]


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    with origin_of(Path(str(_COPY)).read_bytes()) as found:
        yield found


@pytest.fixture(scope="module")
def server(origin: str) -> Iterator[RunningServer]:
    # A reply that has been given before would come in few steps.
    settings: dict[str, Any] = {"token": TOKEN, "text_drafts": "off"}
    with running_server(EMBEDDED, allow_origin=(origin,), **settings) as running:
        yield running


@pytest.fixture(scope="module")
def lite(chromium: Browser, origin: str, server: RunningServer) -> Iterator[Page]:
    """The page, connected to the server by the form that its users fill in."""

    def apart(route: Route) -> None:
        """What it asks of others is answered as if these had nothing to offer."""
        if route.request.url.startswith((origin, server.url)):
            route.continue_()
        else:
            route.fulfill(json=[])

    page = chromium.new_page()
    page.route("**/*", apart)
    page.goto(f"{origin}/index.html")
    page.locator("#welcomecontainer").get_by_role("button", name="Cancel").click()
    page.locator("a.nav-link:visible", has_text="AI").first.click()
    page.select_option("#customapidropdown", label="KoboldAI Remote API")
    page.fill("#customkoboldendpoint", server.url)
    page.fill("#customkoboldkey", TOKEN)
    page.locator("#customendpointcontainer").get_by_role("button", name="Ok", exact=True).click()
    yield page
    page.close()


@pytest.fixture
def slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replies come at the pace of a larger model."""
    step = EngineBackend.step

    def slow(backend: EngineBackend, *given: Any, **named: Any) -> Any:
        backend.cancelled.wait(_STEP_SECONDS)
        return step(backend, *given, **named)

    monkeypatch.setattr(EngineBackend, "step", slow)


def _asked(lite: Page, mode: int, ends: int = _DEFAULT, length: int = 768) -> None:
    lite.evaluate(_SET, [mode, ends, length])
    lite.evaluate(_WATCH)
    lite.fill("#input_text", _QUESTION)
    lite.click("#btnsend")


def _shown(lite: Page) -> list[str]:
    """What its reader saw of the reply, until it was whole."""
    lite.wait_for_function("() => pending_response_id === '' && shownByLite.length > 1")
    shown: list[str] = lite.evaluate("() => shownByLite")
    return [text.removeprefix(_QUESTION).strip() for text in shown if text.strip() != _QUESTION]


def test_it_takes_the_server_for_one_that_streams(lite: Page) -> None:
    expect(lite.locator("#connectstatus")).to_contain_text("KoboldCpp")
    found: Any = lite.evaluate("() => [is_using_kcpp_with_sse(), is_using_kcpp_with_streaming()]")
    assert found == [True, True]


@pytest.mark.parametrize("mode", [_WHOLE, _POLLED, _STREAMED])
def test_the_reply_appears_in_each_mode(lite: Page, mode: int) -> None:
    _asked(lite, mode)
    assert "two machines" in _shown(lite)[-1]


@pytest.mark.usefixtures("slowly")
@pytest.mark.parametrize("mode", [_POLLED, _STREAMED])
def test_it_grows_before_the_eyes_of_the_reader(lite: Page, mode: int) -> None:
    _asked(lite, mode, _BYPASS, 120)
    shown = _shown(lite)
    assert len(shown) > 2
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(shown[:-1]))


@pytest.mark.usefixtures("slowly")
@pytest.mark.parametrize("mode", [_WHOLE, _POLLED, _STREAMED])
def test_its_button_for_breaking_off_ends_the_reply(
    lite: Page, server: RunningServer, mode: int
) -> None:
    compat = server.parts.compat
    assert compat is not None
    _asked(lite, mode, _BYPASS, 1024)
    patience.until(lambda: bool(compat.generator.places.running))
    lite.click("#abortgen")
    patience.until(lambda: not compat.generator.places.running)
