"""More pages than a server has sessions: each gets its reply, and says what it waits for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.server_process import RunningServer, running_server
from tests.web.engine.page import EnginePage, opened, serve_engine_page

HELLO = [{"role": "user", "content": "Hello"}]
_WAITED = "notices.filter(({ type }) => type.startsWith('wait')).map(({ type }) => type)"


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[RunningServer]:
    with running_server(max_sessions=1) as running:
        serve_engine_page(running, folder)
        yield running


def _waited(page: EnginePage) -> list[str]:
    told: list[str] = page.page.evaluate(_WAITED)
    return told


def test_pages_that_share_one_session_wait_for_it_in_words(
    chromium: Browser, server: RunningServer
) -> None:
    with opened(chromium, server) as first, opened(chromium, server) as second:
        for page in (first, second):
            page.ready(server.url)
        expected = first.reply(HELLO)["ids"]
        assert expected
        # A session that was used just now is not taken away, so a newcomer waits for some seconds.
        assert second.reply(HELLO)["ids"] == expected
        assert [_waited(page) for page in (first, second)] == [[], ["waiting", "waited"]]


def test_a_page_that_asks_the_same_server_again_goes_on_in_its_session(
    chromium: Browser, server: RunningServer
) -> None:
    with opened(chromium, server) as page:
        page.ready(server.url)
        first = page.reply(HELLO)
        page.ready(server.url)
        answer = {"role": "assistant", "content": first["text"]}
        second = page.reply([*HELLO, answer, {"role": "user", "content": "And you?"}])
        assert second["promptSent"] < second["promptTokens"] - len(first["ids"])
