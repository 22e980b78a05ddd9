"""What a chat on a phone does with messages, replies and versions; without a model."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, expect

from tests.web.browsing import PHONE
from tests.web.chat_page import ChatPage
from tests.web.fake_page import answered, at, opened
from tests.web.page.test_speed import main_thread_tasks

TALL_PHONE = {**PHONE, "viewport": {"width": 390, "height": 844}}
SAME = "At temperature 0 another reply is the same one."
DRAFT = ("the quick brown fox jumps over it " * 1300)[:43_000]
_FILLED = """(field, text) => {
  field.focus();
  field.value = text;
  field.dispatchEvent(new Event('input', { bubbles: true }));
  field.setSelectionRange(500, 500);
}"""


@pytest.fixture
def phone(chromium: Browser, url: str) -> Iterator[ChatPage]:
    with opened(chromium, url, **TALL_PHONE) as chat:
        yield chat


def test_another_reply_at_temperature_0_says_that_it_is_the_same_and_can_be_varied(
    phone: ChatPage,
) -> None:
    phone.set_number("Temperature", "0")
    answered(phone, "Hello")
    phone.press("Another reply")
    expect(phone.page.get_by_text(SAME)).to_be_visible()
    expect(phone.page.get_by_role("button", name="Stop the reply")).to_have_count(0)
    phone.picture("another-reply-390")
    phone.press("Vary it")
    expect(phone.page.get_by_text(SAME)).to_have_count(0)
    expect(phone.page.get_by_role("group", name="Version 2 of 2")).to_be_visible()
    phone.set_number("Temperature", "0.7")
    expect(phone.page.get_by_role("button", name="Another reply")).to_be_enabled()
    phone.press("Another reply")
    expect(phone.page.get_by_role("group", name="Version 3 of 3")).to_be_visible()


def test_bring_back_goes_with_the_next_message_and_covers_no_sheet(phone: ChatPage) -> None:
    page = phone.page
    answered(phone, "Hello")
    phone.press("Take back the last exchange")
    back = page.get_by_role("button", name="Bring back")
    expect(back).to_be_visible()
    phone.press("Settings")
    sheet = page.get_by_role("dialog", name="Settings")
    inner = sheet.get_by_role("button", name="Bring back")
    expect(inner).to_be_visible()
    page.evaluate("() => Promise.all(document.getAnimations().map(({ finished }) => finished))")
    body, toast = sheet.locator(".body").bounding_box(), sheet.locator(".toast").bounding_box()
    assert body is not None
    assert toast is not None
    assert toast["y"] >= body["y"] + body["height"]
    assert toast["y"] + toast["height"] <= 844
    phone.picture("bring-back-in-a-sheet-390")
    page.keyboard.press("Escape")
    phone.write("Instead")
    expect(back).to_have_count(0)


def test_a_message_after_one_without_a_reply_leaves_it_where_it_is(
    chromium: Browser, url: str
) -> None:
    with opened(chromium, f"{url}?engine=too_long", **TALL_PHONE) as chat:
        page = chat.page
        expect(page.locator("#status")).to_contain_text("recover")
        chat.write("First")
        expect(page.get_by_text("No reply:")).to_be_visible()
        chat.write("Second")
        expect(chat.message(1)).to_contain_text("Second")
        expect(chat.message(0)).to_contain_text("First")
        expect(page.get_by_role("group", name="Version")).to_have_count(0)


def test_try_again_is_offered_where_it_can_help_alone(chromium: Browser, url: str) -> None:
    with opened(chromium, f"{url}?engine=too_long", **TALL_PHONE) as chat:
        page = chat.page
        expect(page.locator("#status")).to_contain_text("recover")
        chat.write("Far too long")
        expect(page.get_by_text("No reply: the chat exceeds the context")).to_be_visible()
        again = page.get_by_role("button", name="Try again")
        expect(again).to_have_count(0)
        chat.picture("unanswerable-390")
        chat.press("Edit the message")
        expect(page.get_by_role("textbox", name="Edit message")).to_have_value("Far too long")
        chat.press("Cancel")
        chat.set_number("Longest reply", "8")
        expect(again).to_be_visible()
        at(page, url, "too_old")
        chat.press("New chat")
        expect(page.get_by_role("heading", name="That did not work")).to_be_visible()
        expect(again).to_have_count(0)


def test_the_title_follows_the_first_message_when_it_is_edited(phone: ChatPage) -> None:
    title = phone.page.get_by_role("heading", level=1)
    answered(phone, "What is split inference?")
    expect(title).to_have_text("What is split inference?")
    phone.press("Edit message")
    phone.page.get_by_role("textbox", name="Edit message").fill("Who holds the LM head?")
    phone.press("Send", phone.message(0))
    expect(title).to_have_text("Who holds the LM head?")


def test_imported_chats_keep_their_order_and_their_dates(phone: ChatPage) -> None:
    def chat(text: str, updated: int | None) -> dict[str, object]:
        messages = [{"role": "user", "content": text}]
        node = {"parent": None, "role": "user", "content": text, "created": updated}
        tree = {"title": text, "created": updated, "updated": updated, "leaf": 0, "nodes": [node]}
        dated = {} if updated is None else {"tree": tree}
        return {"format": "gatelink.conversation", "version": 1, "messages": messages, **dated}

    days = [chat("Third", None), chat("Second", None), chat("First", 1_600_000_000_000)]
    document = {"format": "gatelink.conversations", "version": 1, "chats": days}
    buffer = json.dumps(document).encode()
    file: FilePayload = {"name": "x.json", "mimeType": "application/json", "buffer": buffer}
    phone.press("Saved chats")
    phone.page.locator("input[type=file][accept]").set_input_files([file])
    expect(phone.page.get_by_text("Imported 3 chats")).to_be_visible()
    expect(phone.page.get_by_role("heading", level=1)).to_have_text("Third")
    phone.press("Saved chats")
    titles = phone.page.locator(".chats-item .open")
    expect(titles).to_have_count(3)
    texts = titles.all_inner_texts()
    assert [text.split("\n")[0] for text in texts] == ["Third", "Second", "First"]
    assert "2020" in texts[2]


def test_a_token_that_was_revoked_leaves_the_browser(phone: ChatPage, url: str) -> None:
    page = phone.page
    page.evaluate("localStorage.setItem('gatelink.token', 'a-token-of-a-device-that-was')")
    at(page, url, "revoked")
    expect(page.get_by_text("took back this browser’s access")).to_be_visible()
    assert page.evaluate("localStorage.getItem('gatelink.token')") is None


@pytest.mark.slow
def test_a_key_in_a_long_draft_takes_no_longer_than_a_frame(
    chromium: Browser, url: str, tmp_path: Path
) -> None:
    """CPU time of the main thread, in the middle of one long paragraph: the costliest place."""
    with opened(chromium, url, **TALL_PHONE) as chat:
        page = chat.page
        page.get_by_role("textbox", name="Message").evaluate(_FILLED, DRAFT)
        page.keyboard.press("x")
        trace = tmp_path / "trace.json"
        categories = ["toplevel", "devtools.timeline"]
        chromium.start_tracing(page=page, path=trace, categories=categories)
        for _ in range(15):
            page.keyboard.press("x")
            page.wait_for_timeout(50)
        chromium.stop_tracing()
    longest = sorted(main_thread_tasks(json.loads(trace.read_text())))[-15:]
    assert statistics.median(longest) <= 16
