"""Enter of a touch keyboard, and the way back, on a phone at 390x844."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.browsing import DESKTOP
from tests.web.chat_page import ChatPage
from tests.web.fake_page import answered, opened
from tests.web.page.test_touch_sizes import TOUCH


@pytest.fixture
def touch(chromium: Browser, url: str) -> Iterator[ChatPage]:
    with opened(chromium, url, **TOUCH) as chat:
        expect(chat.page.locator("#status")).to_contain_text("recover")
        yield chat


def _sheets(page: Page, count: int) -> None:
    expect(page.get_by_role("dialog")).to_have_count(count)


def test_enter_of_a_touch_keyboard_begins_a_new_line(touch: ChatPage) -> None:
    page = touch.page
    field = page.get_by_role("textbox", name="Message")
    field.tap()
    page.keyboard.type("First line")
    page.keyboard.press("Enter")
    page.keyboard.type("second line")
    expect(field).to_have_value("First line\nsecond line")
    expect(field).to_have_attribute("enterkeyhint", "enter")
    expect(touch.message(0)).to_have_count(0)
    page.keyboard.press("Control+Enter")
    expect(touch.message(0)).to_contain_text("First line\nsecond line")


def test_enter_sends_from_a_touch_keyboard_where_it_is_chosen(touch: ChatPage) -> None:
    page = touch.page
    touch.settings("Page")
    page.locator("label").filter(has_text=re.compile("^Sends$")).tap()
    page.keyboard.press("Escape")
    field = page.get_by_role("textbox", name="Message")
    field.tap()
    expect(field).to_have_attribute("enterkeyhint", "send")
    page.keyboard.type("At once")
    page.keyboard.press("Enter")
    expect(touch.message(0)).to_contain_text("At once")


@pytest.mark.parametrize(
    ("button", "title"),
    [("Settings", "Settings"), ("What the server sees", "Connection"), ("Saved chats", "Chats")],
)
def test_back_closes_what_lies_above_the_chat(touch: ChatPage, button: str, title: str) -> None:
    page = touch.page
    where = page.url
    touch.press(button)
    expect(
        page.get_by_role("dialog").get_by_role("heading", name=title, exact=True)
    ).to_be_visible()
    page.go_back()
    _sheets(page, 0)
    assert page.url == where
    expect(page.get_by_role("button", name=button)).to_be_focused()


def test_a_sheet_that_was_closed_leaves_no_step_of_the_way_back(
    chromium: Browser, url: str
) -> None:
    with opened(chromium, url, **TOUCH) as chat:
        page = chat.page
        page.goto(f"{url}?engine=long")
        page.wait_for_selector("#composer")
        for button in ("Settings", "Saved chats", "Settings"):
            chat.press(button)
            _sheets(page, 1)
            chat.press("Close", page.get_by_role("dialog"))
            _sheets(page, 0)
        page.wait_for_function("() => history.state === null")
        page.go_back()
        assert page.url == url


def test_a_sheet_that_is_opened_while_another_closes_has_its_own_step(touch: ChatPage) -> None:
    page = touch.page
    touch.press("Saved chats")
    _sheets(page, 1)
    page.evaluate(
        """() => {
          const [close] = document.querySelectorAll('dialog [aria-label=Close]');
          close.click();
          setTimeout(() => document.querySelector('[aria-label=Settings]').click());
        }"""
    )
    expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()
    page.wait_for_function("() => history.state?.sheet === 'settings'")
    page.go_back()
    _sheets(page, 0)
    assert page.evaluate("history.state") is None


def test_forward_opens_the_sheet_again_and_a_reload_does_not(touch: ChatPage) -> None:
    page = touch.page
    touch.press("Settings")
    _sheets(page, 1)
    page.go_back()
    _sheets(page, 0)
    page.go_forward()
    expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()
    page.reload()
    page.wait_for_selector("#composer")
    page.wait_for_function("() => history.state === null")
    _sheets(page, 0)


def test_escape_ends_a_sheet_that_is_still_being_loaded(chromium: Browser, url: str) -> None:
    with opened(chromium, url, **DESKTOP) as chat:
        page = chat.page
        answered(chat, "Hello")
        page.keyboard.press("Control+,")
        page.keyboard.press("Escape")
        page.wait_for_function("() => history.state === null")
        _sheets(page, 0)
