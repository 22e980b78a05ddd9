"""Two tabs of one browser, a reply that one of them writes; and drafts of messages."""

from __future__ import annotations

from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, Page, expect

from tests.web.browsing import DESKTOP, Browser, launched
from tests.web.chat_page import ChatPage
from tests.web.fake_page import CONNECTING, answered, opened

ELSEWHERE = "The reply is being written in another tab."


def _tab(context: BrowserContext, url: str) -> ChatPage:
    page = context.new_page()
    page.goto(f"{url}?engine=long")
    expect(page.locator("#status")).not_to_have_text(CONNECTING)
    return ChatPage(page, touch=False)


def _field(page: Page) -> str:
    return page.get_by_role("textbox", name="Message").input_value()


def _check_tabs(context: BrowserContext, url: str) -> None:
    first, second = _tab(context, url), _tab(context, url)
    first.write("Hello")
    expect(first.reply(0)).not_to_be_empty()
    second.page.get_by_role("button", name="Hello").first.click()
    expect(second.page.locator("#status")).to_have_text(ELSEWHERE)
    assert second.page.get_by_role("button", name="Get a reply").count() == 0
    # Saved every few seconds while it is written.
    expect(second.reply(0)).not_to_be_empty()
    expect(second.page.locator(".ended")).to_have_text(ELSEWHERE)
    first.page.close()
    again = second.page.get_by_role("button", name="Another reply")
    expect(again).to_be_enabled()
    expect(second.page.locator(".ended")).to_contain_text("Broke off")
    again.click()
    expect(second.page.get_by_role("button", name="Stop the reply")).to_be_visible()
    assert first.errors == second.errors == []


def test_a_reply_that_another_tab_writes_can_be_taken_over_when_it_is_gone(
    chromium: Browser, url: str
) -> None:
    context = chromium.new_context(**DESKTOP)
    _check_tabs(context, url)
    context.close()


def test_over_plain_http_on_a_lan_tabs_ask_each_other(chromium: Browser, url: str) -> None:
    """``chromium`` has the driver."""
    with launched("--host-resolver-rules=MAP lan.test 127.0.0.1") as browser:
        context = browser.new_context(**DESKTOP)
        _check_tabs(context, f"http://lan.test:{urlsplit(url).port}/")


def test_what_stands_in_the_message_field_belongs_to_its_chat(chromium: Browser, url: str) -> None:
    with opened(chromium, url, **DESKTOP) as chat:
        field = chat.page.get_by_role("textbox", name="Message")
        answered(chat, "First chat")
        field.fill("more for the first")
        chat.press("New chat")
        expect(field).to_have_value("")
        field.fill("for a new one")
        chat.page.get_by_role("button", name="First chat").first.click()
        expect(field).to_have_value("more for the first")
        chat.page.reload()
        expect(field).to_have_value("more for the first")
        chat.press("New chat")
        expect(field).to_have_value("for a new one")
        answered(chat, "Second chat")
        assert _field(chat.page) == ""
        chat.press("New chat")
        expect(field).to_have_value("")
