"""Keys, focus, and what is read while a reply is written."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser, expect

from tests.web.browsing import DESKTOP, PHONE
from tests.web.chat_page import ChatPage
from tests.web.fake_page import answered, opened
from tests.web.page.states import closed


def test_a_chat_needs_no_pointer(desktop: ChatPage) -> None:
    page = desktop.page
    expect(page.locator("#status")).to_contain_text("recover")
    skip = page.get_by_role("link", name="Skip to the message field")
    assert page.evaluate("document.querySelector('a, button, input, textarea').className") == "skip"
    skip.focus()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.type("First line")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("second line")
    page.keyboard.press("Enter")
    expect(desktop.message(0)).to_contain_text("First line\nsecond line")
    page.keyboard.press("Escape")
    expect(page.get_by_text("Stopped by you.")).to_be_visible()
    expect(page.get_by_role("textbox", name="Message")).to_be_focused()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("no such words")
    expect(page.get_by_text("No chat has all these words.")).to_be_visible()


def test_a_dialog_takes_the_focus_keeps_it_and_gives_it_back(phone: ChatPage) -> None:
    page = phone.page
    opener = page.get_by_role("button", name="Settings")
    opener.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Settings")).to_be_focused()
    for _ in range(60):
        page.keyboard.press("Tab")
        assert page.evaluate(
            "() => document.activeElement.closest('dialog, body').matches('dialog')"
            " || document.activeElement === document.body"
        )
    closed(page)
    expect(opener).to_be_focused()


def test_the_list_follows_a_reply_until_the_reader_scrolls_up(chromium: Browser, url: str) -> None:
    with opened(chromium, f"{url}?engine=long", **DESKTOP) as chat:
        page = chat.page
        expect(page.locator("#status")).to_contain_text("recover")
        chat.write("At length, please")
        rest = "() => { const m = document.querySelector('#messages');"
        rest += " return m.scrollHeight - m.clientHeight - m.scrollTop; }"
        page.wait_for_function("() => document.querySelector('#messages').scrollTop > 600")
        assert page.evaluate(rest) < 2
        page.mouse.move(700, 300)
        page.mouse.wheel(0, -400)
        to_end = page.get_by_role("button", name="To the end")
        expect(to_end).to_be_visible()
        top = page.evaluate("document.querySelector('#messages').scrollTop")
        grown = page.evaluate(rest)
        page.wait_for_function(f"() => ({rest})() > {grown + 200}")
        assert page.evaluate("document.querySelector('#messages').scrollTop") == top
        to_end.click()
        expect(to_end).to_have_count(0)
        page.wait_for_timeout(300)
        assert page.evaluate(rest) < 2
        chat.stop()


def test_nothing_jumps_while_a_reply_is_written(chromium: Browser, url: str) -> None:
    with opened(chromium, url, **PHONE) as chat:
        expect(chat.page.locator("#status")).to_contain_text("recover")
        chat.page.evaluate(
            """() => { globalThis.shift = 0; new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) globalThis.shift += entry.value;
            }).observe({ type: 'layout-shift' }); }"""
        )
        answered(chat, "Hello")
        assert chat.page.evaluate("shift") < 0.05


def test_scripts_in_a_reply_stay_text_and_links_leave_the_page_alone(desktop: ChatPage) -> None:
    answered(desktop, "Hello")
    expect(desktop.reply(0)).to_contain_text("<script>document.title = 'broken'</script>")
    link = desktop.page.get_by_role("link", name="the documentation")
    assert link.get_attribute("rel") == "noopener noreferrer"
    assert link.get_attribute("target") == "_blank"
    assert desktop.page.title() == "Gatelink"


def test_code_and_replies_are_copied_as_they_are(chromium: Browser, url: str) -> None:
    options: dict[str, Any] = {**DESKTOP, "permissions": ["clipboard-read", "clipboard-write"]}
    with opened(chromium, url, **options) as chat:
        answered(chat, "Hello")
        chat.press("Copy code")
        clipboard = "() => navigator.clipboard.readText()"
        assert chat.page.evaluate(clipboard).startswith("for token in decode(")
        chat.press("Copy reply")
        expect(chat.page.get_by_role("button", name="Copied").last).to_be_visible()
        assert chat.page.evaluate(clipboard).startswith("Split inference cuts a model")


def test_a_screen_reader_is_told_sentences_and_not_tokens(desktop: ChatPage) -> None:
    desktop.page.evaluate(
        """() => { globalThis.told = [];
        const live = document.querySelector('p[aria-live=polite]');
        new MutationObserver(() => told.push(live.textContent))
        .observe(live, { subtree: true, childList: true, characterData: true }); }"""
    )
    answered(desktop, "Hello")
    told = desktop.page.evaluate("told")
    assert 1 <= len(told) <= 4
    assert "the documentation" in told[-1]
