"""The context of a chat on the page: seen while typing, never a dead end; without a model."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Browser, FilePayload, Locator, expect

from tests.web.browsing import PHONE
from tests.web.chat_page import ChatPage
from tests.web.fake_page import answered, opened

_TEXT = "Some more of it follows here. " * 8


def _imported(chat: ChatPage, turns: int, **about: dict[str, Any]) -> None:
    """A chat of so many turns; ``about``: what else stands in its messages, m0 and so on."""
    roles = ("user", "assistant")
    messages = [
        {"role": roles[i % 2], "content": f"Said {i}. {_TEXT}", **about.get(f"m{i}", {})}
        for i in range(2 * turns)
    ]
    document = {"format": "gatelink.conversation", "version": 1, "messages": messages}
    if chat.touch:
        chat.press("Saved chats")
    buffer = json.dumps(document).encode()
    file: FilePayload = {"name": "chat.json", "mimeType": "application/json", "buffer": buffer}
    chat.page.locator("input[type=file][accept]").set_input_files([file])
    expect(chat.page.get_by_text("Imported 1 chat")).to_be_visible()


def _all_near(chat: ChatPage) -> None:
    """What is far from what is seen is not drawn."""
    chat.page.set_viewport_size({"width": 390, "height": 4000})


def _meter(chat: ChatPage) -> Locator:
    return chat.page.get_by_role("button", name="Context:")


def _budget(chat: ChatPage, tokens: str) -> None:
    _meter(chat).click()
    chat.page.get_by_label("Budget in tokens").fill(tokens)
    chat.page.keyboard.press("Escape")


def test_how_full_it_is_stands_below_the_message_while_it_is_written(phone: ChatPage) -> None:
    page = phone.page
    expect(_meter(phone)).to_have_accessible_name("Context: 0 / 2,048 tokens")
    page.get_by_role("textbox", name="Message").fill("Four words, or so.")
    expect(_meter(phone)).to_have_accessible_name("Context: 5 / 2,048 tokens")
    expect(_meter(phone).locator(".only-roomy")).to_have_text("0 + 5 of 2,048")
    answered(phone, "Four words, or so.")
    expect(_meter(phone).locator(".only-roomy")).not_to_contain_text("+")
    expect(page.locator("#status")).not_to_contain_text("kB")
    phone.press("What the server sees")
    expect(page.get_by_label("What has travelled")).to_contain_text("kB")


def test_a_full_context_asks_with_what_it_frees_and_goes_on(phone: ChatPage) -> None:
    page = phone.page
    _all_near(phone)
    _imported(phone, 6)
    _budget(phone, "500")
    phone.write("And now?")
    banner = page.get_by_role("alert")
    expect(banner).to_contain_text("of 500 tokens. Leaving the oldest")
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    phone.press("Leave out and reply")
    expect(page.get_by_text("tokens freed")).to_be_visible()
    expect(page.get_by_role("button", name="Stop the reply")).to_have_count(0)
    expect(banner).to_have_count(0)
    expect(page.locator(".dropped").first).to_contain_text("Said 1.")
    expect(page.get_by_role("article", name="You").first.locator(".dropped")).to_have_count(0)
    dropped = page.locator(".dropped").count()
    page.reload()
    expect(page.locator(".dropped")).to_have_count(dropped)
    phone.press("Bring back")
    expect(page.locator(".dropped")).to_have_count(dropped - 1)


def test_a_policy_makes_room_by_itself_and_what_is_pinned_stays(phone: ChatPage) -> None:
    page = phone.page
    _all_near(phone)
    _imported(phone, 5, m3={"pinned": True})
    _meter(phone).click()
    page.get_by_text("Keep what is pinned").click()
    page.get_by_label("Budget in tokens").fill("500")
    page.keyboard.press("Escape")
    phone.write("And now?")
    expect(page.get_by_text("tokens freed")).to_be_visible()
    expect(page.get_by_role("button", name="Copy reply")).to_have_count(6)
    struck = page.locator(".dropped s").all_inner_texts()
    assert [text.split(".")[0][-6:] for text in struck] == [
        f"Said {i}" for i in (1, 2, 4, 5, 6, 7)
    ] + [
        "Said 8",
        "Said 9",
    ]


def test_what_may_not_go_is_said_and_can_be_left_out_by_hand(phone: ChatPage) -> None:
    page = phone.page
    _imported(phone, 1)
    _budget(phone, "100")
    phone.write("And now? " * 12)
    expect(page.get_by_role("alert")).to_contain_text("What stays in the context")
    phone.press("Choose what to leave out")
    page.get_by_role("button", name="Leave out You: Said 0").click()
    page.get_by_role("button", name="Leave out Reply: Said 1").click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("alert")).to_contain_text("there is room again")
    phone.press("Reply in the room there is")
    expect(page.get_by_role("button", name="Copy reply")).to_have_count(2)


def test_every_part_is_reached_by_keyboard_and_the_chat_finds_what_is_left_out(
    desktop: ChatPage,
) -> None:
    page = desktop.page
    _imported(desktop, 2)
    _meter(desktop).focus()
    page.keyboard.press("Enter")
    summary = page.locator("summary").nth(1)
    summary.focus()
    page.keyboard.press("Enter")
    part = page.get_by_role("checkbox", name="Said 1.", exact=True)
    part.focus()
    page.keyboard.press("Space")
    expect(part).not_to_be_checked()
    page.keyboard.press("Escape")
    expect(_meter(desktop)).to_be_focused()
    expect(page.locator(".dropped s")).to_contain_text("Said 1.")
    page.get_by_role("searchbox").fill("said 1")
    expect(page.locator(".chats-item")).to_contain_text("Said 1.")
    bring = page.get_by_role("button", name="Bring back")
    bring.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".dropped")).to_have_count(0)


def test_undo_retry_and_edit_right_after_a_cut_keep_it(phone: ChatPage) -> None:
    page = phone.page
    _imported(phone, 3, m1={"dropped": [[0, 8]]})
    struck = page.locator(".dropped")
    phone.press("Another reply", page.get_by_role("article", name="Reply").last)
    expect(page.get_by_role("group", name="Version 2 of 2")).to_be_visible()
    expect(page.get_by_role("button", name="Copy reply")).to_have_count(3)
    phone.press("Take back the last exchange")
    expect(page.get_by_role("article", name="You")).to_have_count(2)
    expect(struck).to_have_count(1)
    phone.press("Edit message", phone.message(1))
    page.get_by_role("textbox", name="Edit message").fill("Otherwise")
    phone.press("Send", phone.message(1))
    expect(page.get_by_role("button", name="Copy reply")).to_have_count(2)
    expect(struck).to_have_count(1)


def test_a_cut_in_one_tab_is_seen_in_the_other(chromium: Browser, url: str) -> None:
    with opened(chromium, url, **PHONE) as chat:
        _imported(chat, 2)
        other = ChatPage(chat.page.context.new_page(), touch=True)
        other.page.goto(url)
        expect(other.page.get_by_role("article", name="Reply")).to_have_count(2)
        _meter(chat).click()
        chat.page.get_by_role("button", name="Leave out Reply: Said 1").click()
        expect(other.page.locator(".dropped")).to_have_count(1)
        other.press("Bring back")
        expect(chat.page.locator(".dropped")).to_have_count(0)


def test_with_twice_the_text_nothing_is_out_of_reach(chromium: Browser, url: str) -> None:
    with opened(chromium, url, **PHONE) as chat:
        page = chat.page
        _imported(chat, 4, m1={"dropped": [[0, 8]]})
        page.evaluate("document.documentElement.style.fontSize = '200%'")
        chat.write("And now?")
        expect(page.get_by_role("button", name="Copy reply")).to_have_count(5)
        _meter(chat).click()
        page.get_by_text("Parts").first.click()
        wider = "e => e.scrollWidth - e.clientWidth"
        assert page.locator(".sheet .body").evaluate(wider) <= 0
        box = page.get_by_role("button", name="Leave out You: Said 0").bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= page.viewport_size["width"]  # type: ignore[index]
        page.keyboard.press("Escape")
        assert page.locator("html").evaluate(wider) <= 0
