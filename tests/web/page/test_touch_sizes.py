"""Room of a phone at 390x844: text of twice the size, words that do not break, a keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.browsing import PHONE
from tests.web.chat_page import ChatPage
from tests.web.fake_page import answered, opened

TOUCH: dict[str, Any] = {**PHONE, "viewport": {"width": 390, "height": 844}}
# What is left of that phone on its side above a keyboard.
SIDEWAYS = {"width": 844, "height": 190}
# What can be pressed and lies, in part, beside the screen or beside its dialog.
_BESIDE = """() => [...document.querySelectorAll('button, label, summary, select, textarea')]
  .filter((element) => element.checkVisibility() && element.getBoundingClientRect().width > 0)
  .map((element) => {
    const { left, right } = element.getBoundingClientRect();
    const dialog = element.closest('dialog')?.getBoundingClientRect();
    const room = dialog ?? { left: 0, right: innerWidth };
    const beside = left < room.left - 1 || right > room.right + 1;
    return beside ? `${element.ariaLabel || element.textContent}: ${left} to ${right}` : null;
  })
  .filter((found) => found !== null)"""
_WIDER = """() => [document.documentElement, ...document.querySelectorAll('dialog, .sheet .body')]
  .map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth).filter((wider) => wider > 0)"""


@pytest.fixture
def large(chromium: Browser, url: str) -> Iterator[ChatPage]:
    """The page for a reader whose text is twice as large."""
    with opened(chromium, url, **TOUCH) as chat:
        chat.page.evaluate("() => { document.documentElement.style.fontSize = '200%'; }")
        answered(chat, "What is split inference?")
        yield chat


def _nothing_beside(page: Page) -> None:
    assert page.evaluate(_BESIDE) == []
    assert page.evaluate(_WIDER) == []


def test_settings_at_twice_the_text_are_within_reach(large: ChatPage) -> None:
    page = large.page
    _nothing_beside(page)
    large.press("Settings")
    page.get_by_label("Add noise to what this chat sends").check()
    _nothing_beside(page)
    large.tab("Sampling")
    page.get_by_text("More settings").tap()
    page.get_by_label("Temperature", exact=True).fill("1.3")
    _nothing_beside(page)
    large.tab("Page")
    for words in ("HTTP", "Dark"):
        page.locator("label").filter(has_text=words).tap()
        expect(page.get_by_role("radio", name=words)).to_be_checked()
    _nothing_beside(page)
    large.tab("Storage")
    expect(page.get_by_role("button", name="Delete")).to_be_visible()
    _nothing_beside(page)


def test_what_the_server_sees_at_twice_the_text_is_within_the_screen(large: ChatPage) -> None:
    large.press("What the server sees")
    _nothing_beside(large.page)


def test_saved_chats_at_twice_the_text_are_within_reach(large: ChatPage) -> None:
    large.press("Saved chats")
    large.page.get_by_role("button", name="More for").first.tap()
    _nothing_beside(large.page)
    large.press("Rename")
    _nothing_beside(large.page)


def test_a_message_is_edited_at_twice_the_text(large: ChatPage) -> None:
    large.press("Edit message")
    _nothing_beside(large.page)


def test_a_word_that_does_not_break_cuts_no_description_of_an_adapter(
    chromium: Browser, url: str
) -> None:
    with opened(chromium, f"{url}?engine=wordy", **TOUCH) as chat:
        expect(chat.page.locator("#status")).to_contain_text("recover")
        chat.press("Settings")
        expect(chat.page.get_by_text("Questions about accounts")).to_be_visible()
        _nothing_beside(chat.page)
        body = "() => { const { scrollWidth, clientWidth } = document.querySelector('.radios');"
        assert chat.page.evaluate(body + " return scrollWidth - clientWidth; }") <= 0


def test_a_phone_on_its_side_shows_the_chat_above_its_keyboard(chromium: Browser, url: str) -> None:
    with opened(chromium, url, **TOUCH) as chat:
        answered(chat, "What is split inference?")
        page = chat.page
        page.get_by_role("textbox", name="Message").tap()
        page.set_viewport_size(SIDEWAYS)  # type: ignore[arg-type]
        page.keyboard.type("And then?")
        room = page.locator("#messages").bounding_box()
        assert room is not None
        assert room["height"] > SIDEWAYS["height"] / 2
        expect(page.get_by_role("link", name="the documentation")).to_be_in_viewport()
        expect(page.get_by_role("button", name="Send", exact=True)).to_be_in_viewport(ratio=1)


def test_what_gives_way_to_a_keyboard_comes_back(chromium: Browser, url: str) -> None:
    with opened(chromium, url, **TOUCH) as chat:
        page = chat.page
        settings = page.get_by_role("button", name="Settings")
        page.set_viewport_size(SIDEWAYS)  # type: ignore[arg-type]
        expect(settings).not_to_be_in_viewport()
        settings.focus()
        expect(settings).to_be_in_viewport(ratio=1)
        page.get_by_role("textbox", name="Message").focus()
        page.set_viewport_size({"width": 844, "height": 320})
        expect(settings).to_be_in_viewport(ratio=1)


def test_settings_of_a_phone_on_its_side_have_room(chromium: Browser, url: str) -> None:
    with opened(chromium, url, **TOUCH) as chat:
        chat.press("Settings")
        chat.page.set_viewport_size(SIDEWAYS)  # type: ignore[arg-type]
        room = chat.page.locator(".sheet .body").bounding_box()
        assert room is not None
        assert room["height"] > SIDEWAYS["height"] / 2
