"""Details of the page that a newcomer stumbles over; with an engine that needs no model."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Browser, FilePayload, expect

from tests.web.browsing import PHONE
from tests.web.chat_page import ChatPage
from tests.web.fake_page import answered, at, opened

ARABIC = "مرحبا، كيف حالك اليوم؟ هذا نص مع English في الوسط."
TABLE = """| name | value | note |
| --- | ---: | :---: |
| first | 1 | a long note that needs some room to be read in full |
| second | 12345678901234567890 | b |
"""
_STARTS_AT_RIGHT = """(element) => {
  const range = document.createRange();
  range.selectNodeContents(element);
  const last = [...range.getClientRects()].at(-1);
  const box = element.getBoundingClientRect();
  return last.left - box.left > box.right - last.right;
}"""


def _imported(chat: ChatPage, *said: str, **about: Any) -> None:
    """Take in a chat, the user's messages and the model's in turn."""
    roles = ("user", "assistant")
    messages = [{"role": roles[i % 2], "content": text} for i, text in enumerate(said)]
    document = {"format": "gatelink.conversation", "version": 1, "messages": messages, **about}
    if chat.touch:
        chat.press("Saved chats")
    buffer = json.dumps(document).encode()
    file: FilePayload = {"name": "chat.json", "mimeType": "application/json", "buffer": buffer}
    chat.page.locator("input[type=file][accept]").set_input_files([file])
    expect(chat.page.get_by_text("Imported 1 chat")).to_be_visible()


def test_text_from_right_to_left_begins_at_the_right(phone: ChatPage) -> None:
    _imported(phone, f"{ARABIC} {ARABIC}", f"{ARABIC} {ARABIC}\n\n- {ARABIC}\n- {ARABIC}")
    bubble, paragraph = phone.page.locator(".bubble"), phone.page.locator(".text > p")
    assert bubble.evaluate(_STARTS_AT_RIGHT)
    assert paragraph.evaluate(_STARTS_AT_RIGHT)
    direction = "element => getComputedStyle(element).direction"
    assert phone.page.locator(".text ul").evaluate(direction) == "rtl"
    field = phone.page.get_by_role("textbox", name="Message")
    field.fill(ARABIC)
    assert field.evaluate(direction) == "rtl"


def test_a_table_on_a_phone_scrolls_in_place_of_a_word_a_line(phone: ChatPage) -> None:
    _imported(phone, "A table", TABLE)
    cell = phone.page.get_by_text("a long note").bounding_box()
    assert cell is not None
    assert cell["width"] > 150
    assert cell["height"] < 120


def test_emptying_a_field_does_not_close_the_settings_around_it(desktop: ChatPage) -> None:
    desktop.settings("Sampling")
    desktop.page.get_by_text("More settings").click()
    seed = desktop.page.get_by_label("Seed", exact=True)
    seed.fill("1")
    seed.fill("")
    expect(seed).to_be_focused()
    expect(seed).to_be_visible()


def test_an_adapter_of_a_begun_chat_is_that_chats_own(desktop: ChatPage) -> None:
    page = desktop.page
    answered(desktop, "What is split inference?")
    desktop.press("Settings")
    page.get_by_role("radio", name="banking").check()
    page.get_by_label("System prompt", exact=True).fill("Be brief.")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Adapter: banking")).to_be_visible()
    desktop.press("New chat")
    expect(page.get_by_role("button", name="Adapter: none")).to_be_visible()
    page.reload()
    page.locator(".chats-item .open").first.click()
    expect(page.get_by_role("button", name="Adapter: banking")).to_be_visible()
    desktop.press("Settings")
    expect(page.get_by_label("System prompt", exact=True)).to_have_value("Be brief.")


def test_an_adapter_that_the_server_has_lost_is_named_and_can_be_given_up(
    chromium: Browser, url: str
) -> None:
    settings = json.dumps(json.dumps({"adapter": "medical"}))
    with opened(chromium, url, **PHONE) as chat:
        page = chat.page
        page.evaluate(f"localStorage.setItem('gatelink.settings', {settings})")
        page.reload()
        page.get_by_role("button", name="Adapter: medical").tap()
        expect(page.get_by_role("radio", name="medical Not on this server")).to_be_checked()
        page.get_by_role("radio", name="None").check()
        expect(page.get_by_role("radio", name="medical")).to_have_count(0)


def test_why_the_server_is_not_there_is_a_sentence(phone: ChatPage, url: str) -> None:
    at(phone.page, url, "offline")
    words = phone.page.locator(".card p").first.inner_text()
    assert words[0].isupper()
    assert words.endswith(".")


def test_a_token_that_the_server_refuses_is_said_to_be_refused(phone: ChatPage, url: str) -> None:
    at(phone.page, url, "needs_token")
    expect(
        phone.page.get_by_text("This server answers only devices that it knows.")
    ).to_be_visible()
    phone.page.get_by_label("Pairing code or token").fill("not-the-token-of-this-server")
    phone.press("Pair")
    expect(phone.page.get_by_text("The server does not accept the token")).to_be_visible()


def test_without_a_reply_nothing_claims_to_reconnect(chromium: Browser, url: str) -> None:
    with opened(chromium, f"{url}?engine=lost&breaks", **PHONE) as chat:
        expect(chat.page.locator("#status")).to_contain_text("recover")
        chat.write("Hello")
        banner = chat.page.get_by_text("Reconnecting, try")
        expect(banner).to_be_visible()
        expect(chat.page.get_by_text("Broke off: ")).to_be_visible()
        expect(banner).to_have_count(0)


def test_a_system_prompt_that_is_being_written_is_that_of_the_chat_that_is_left(
    desktop: ChatPage,
) -> None:
    page = desktop.page
    prompt = page.get_by_label("System prompt", exact=True)
    answered(desktop, "First chat")
    desktop.press("Settings")
    prompt.fill("Be brief.")
    page.keyboard.press("Control+Shift+K")
    expect(page.get_by_role("dialog")).to_have_count(0)
    desktop.press("Settings")
    expect(prompt).to_have_value("")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="First chat").first.click()
    desktop.press("Settings")
    expect(prompt).to_have_value("Be brief.")
