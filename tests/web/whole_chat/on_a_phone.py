"""The whole page on a phone, with the model of a real server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser

from tests.web.browsing import PHONE
from tests.web.chat_page import ChatPage

TALL_PHONE = {**PHONE, "viewport": {"width": 390, "height": 844}}


@contextmanager
def settings_on_a_phone(browser: Browser, url: str) -> Iterator[ChatPage]:
    """The page with its model and its settings open; whoever leaves has seen no error on it."""
    context = browser.new_context(**TALL_PHONE)
    try:
        page = ChatPage(context.new_page(), touch=True)
        page.page.goto(url)
        page.download()
        page.press("Settings")
        yield page
        assert page.errors == []
    finally:
        context.close()
