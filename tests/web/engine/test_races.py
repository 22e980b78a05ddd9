"""Requests of a page to its engine while something else is under way, or gone."""

from __future__ import annotations

from playwright.sync_api import Browser

from tests.patience import until
from tests.server_process import RunningServer
from tests.web.engine.page import EnginePage, opened

ASKED = [{"role": "user", "content": "What is split inference?"}]


def test_a_chat_that_is_closed_while_it_is_answered_leaves_no_session(
    chromium: Browser, server: RunningServer
) -> None:
    with opened(chromium, server) as engine:
        engine.ready(server.url)
        before = len(server.parts.steps.store)
        engine.begin("reply", ASKED, maxTokens=400)
        engine.page.wait_for_function("() => tokensOf('reply').length > 2")
        engine.page.evaluate("engine.closeChat('chat')")
        assert engine.finished("reply")["reason"] == "cancelled"
        # The server reads the end of a session after the page has said it.
        until(lambda: len(server.parts.steps.store) == before)


def test_two_tabs_chat_with_one_model_at_once(chromium: Browser, server: RunningServer) -> None:
    with opened(chromium, server) as first:
        first.ready(server.url)
        page = first.page.context.new_page()
        page.goto(first.page.url)
        page.wait_for_function("() => 'ready' in globalThis")
        second = EnginePage(page)
        assert second.ready(server.url)["stored"]
        first.begin("reply", ASKED)
        ids = second.reply(ASKED)["ids"]
        assert len(ids) > 2
        assert first.finished("reply")["ids"] == ids


def test_a_storage_that_is_cleared_while_the_model_is_open_is_filled_again(
    chromium: Browser, server: RunningServer
) -> None:
    with opened(chromium, server) as engine:
        engine.ready(server.url)
        ids = engine.reply(ASKED, chat="before")["ids"]
        session = engine.page.context.new_cdp_session(engine.page)
        where = {"origin": server.url, "storageTypes": "all"}
        session.send("Storage.clearDataForOrigin", where)
        # The open files may still be read; if not, the reason is told and the model comes anew.
        engine.reply(ASKED, chat="between")
        assert engine.ready(server.url)["workers"] >= 1
        assert engine.reply(ASKED, chat="after")["ids"] == ids
