"""Downloads that pause, servers that are full or away, replies that break off."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.web.browsing import PHONE
from tests.web.chat_page import ChatPage
from tests.web.fake_page import answered, at, opened


def test_a_download_is_paused_goes_on_and_is_deleted(chromium: Browser, url: str) -> None:
    with opened(chromium, f"{url}?engine=needs_download", **PHONE) as chat:
        page = chat.page
        chat.press("Download 8.4 MB")
        expect(page.get_by_text("left")).to_be_visible()
        chat.press("Pause")
        expect(page.get_by_text("Here already")).to_be_visible()
        chat.press("Delete")
        chat.press("Download 8.4 MB")
        expect(page.get_by_role("button", name="Pause")).to_be_visible()


def test_a_full_server_is_said_while_the_chat_waits_for_its_place(
    chromium: Browser, url: str
) -> None:
    size = PHONE | {"viewport": {"width": 390, "height": 844}}
    with opened(chromium, f"{url}?engine=full", **size) as chat:
        expect(chat.page.locator("#status")).to_contain_text("recover")
        chat.write("Hello")
        words = chat.page.get_by_text("All places on the server are taken. Waiting for one")
        expect(words).to_be_visible()
        chat.picture("full-server")
        expect(chat.page.get_by_role("button", name="Copy reply")).to_have_count(1)
        expect(words).to_have_count(0)


def test_a_lost_connection_is_said_and_the_reply_goes_on(chromium: Browser, url: str) -> None:
    with opened(chromium, f"{url}?engine=lost", **PHONE) as chat:
        expect(chat.page.locator("#status")).to_contain_text("recover")
        chat.write("Hello")
        expect(chat.page.get_by_text("Connection lost (the network went away)")).to_be_visible()
        expect(chat.page.get_by_text("Connected again; the reply goes on")).to_be_visible()
        expect(chat.page.get_by_role("button", name="Copy reply")).to_have_count(1)


def test_a_reply_that_breaks_off_says_why_and_its_text_stays(chromium: Browser, url: str) -> None:
    with opened(chromium, f"{url}?engine=lost&breaks", **PHONE) as chat:
        expect(chat.page.locator("#status")).to_contain_text("recover")
        chat.write("Hello")
        expect(chat.page.get_by_text("Broke off: the connection was lost")).to_be_visible()
        expect(chat.reply(0)).to_contain_text("Split inference cuts a model")
        expect(chat.page.get_by_role("button", name="Try now")).to_be_visible()


def test_without_a_server_old_chats_are_read_and_the_composer_says_why(
    phone: ChatPage, url: str
) -> None:
    answered(phone, "Remember this")
    at(phone.page, url, "offline")
    expect(phone.message(0)).to_contain_text("Remember this")
    expect(phone.page.locator("#status")).to_contain_text("cannot be reached")
    phone.page.get_by_role("textbox", name="Message").fill("And now?")
    expect(phone.page.get_by_role("button", name="Send", exact=True)).to_be_disabled()
