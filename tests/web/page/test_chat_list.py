"""The list of chats: pinned ones, folders, days; and what other apps have exported."""

from __future__ import annotations

import time
from typing import Any

from playwright.sync_api import expect

from tests.web.chat_page import ChatPage
from tests.web.long_chats import document, imported

DAY = 86_400_000


def _chat(title: str, days: float) -> dict[str, Any]:
    """A chat of one message that was changed that many days ago."""
    at = time.time() * 1000 - days * DAY
    nodes = [{"parent": None, "role": "user", "content": title, "created": at}]
    tree = {"title": title, "created": at, "updated": at, "leaf": 0, "nodes": nodes}
    said = [{"role": "user", "content": title}]
    return {"format": "gatelink.conversation", "version": 1, "messages": said, "tree": tree}


def _many(*chats: dict[str, Any]) -> dict[str, Any]:
    return {"format": "gatelink.conversations", "version": 1, "chats": list(chats)}


def test_chats_stand_by_day_pinned_ones_first_and_in_folders(desktop: ChatPage) -> None:
    page = desktop.page
    imported(desktop, _many(_chat("Now", 0), _chat("Older", 4), _chat("Ancient", 400)))
    lists = page.get_by_role("navigation", name="Chats").get_by_role("list")
    names = "all => all.map((list) => list.ariaLabel.split(': ')[1])"
    before = lists.evaluate_all(names)
    assert before[:2] == ["Today", "The last 7 days"]
    assert len(before) == 3
    page.get_by_role("button", name="More for Ancient").click()
    desktop.press("Pin")
    expect(page.get_by_role("list", name="Pinned").get_by_role("listitem")).to_have_count(1)
    page.get_by_role("button", name="More for Older").click()
    desktop.press("Folder")
    page.get_by_label("Folder; empty: none").fill("Garden")
    page.keyboard.press("Enter")
    folder = page.get_by_role("list", name="Garden")
    expect(folder.get_by_text("Older")).to_be_visible()
    assert lists.evaluate_all(names) == ["Pinned", "Garden", "Today"]
    page.locator("summary").filter(has_text="Garden").click()
    expect(folder).to_be_hidden()
    page.reload()
    expect(folder.get_by_text("Older")).to_be_visible()
    page.get_by_role("button", name="More for Ancient").click()
    desktop.press("Unpin")
    expect(page.get_by_role("list", name="Pinned")).to_have_count(0)


def test_chats_of_chatgpt_come_in_with_their_branches_and_as_text(phone: ChatPage) -> None:
    page = phone.page

    def node(parent: str | None, children: list[str], role: str, text: str) -> dict[str, Any]:
        content = {"content_type": "text", "parts": [text]}
        message = {"author": {"role": role}, "content": content, "recipient": "all"}
        return {"parent": parent, "children": children, "message": message}

    mapping = {
        "a": node(None, ["b", "c"], "user", "What is a fern?"),
        "b": node("a", [], "assistant", "A plant."),
        "c": node("a", [], "assistant", "<img src=x onerror=\"document.title='broken'\"> **leaf**"),
    }
    about = {"title": "Ferns", "create_time": 1.7e9, "update_time": 1.7e9, "current_node": "c"}
    imported(phone, [{**about, "mapping": mapping}], "conversations.json")
    expect(page.get_by_role("heading", name="Ferns")).to_be_visible()
    expect(phone.reply(0)).to_contain_text("<img src=x")
    expect(phone.reply(0).locator("strong")).to_have_text("leaf")
    assert page.locator(".text img").count() == 0
    phone.press("Version before")
    expect(phone.reply(0)).to_have_text("A plant.")


def test_words_are_found_in_a_long_chat_far_from_what_is_seen(phone: ChatPage) -> None:
    page = phone.page
    imported(phone, document(200))
    phone.press("Find in this chat")
    field = page.get_by_role("searchbox", name="Find in this chat")
    expect(field).to_be_focused()
    field.fill("WORD17:")
    expect(page.get_by_role("search")).to_contain_text("Not found")
    field.fill("word17")
    expect(page.get_by_role("search")).to_contain_text("11 of 11")
    expect(page.locator("#message-m180")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.get_by_role("search")).to_contain_text("1 of 11")
    expect(page.locator("#message-m18 pre")).to_be_in_viewport()
    assert page.evaluate("CSS.highlights.get('found').size") == 1
    page.keyboard.press("Shift+Enter")
    expect(page.get_by_role("search")).to_contain_text("11 of 11")
    page.keyboard.press("Escape")
    expect(page.get_by_role("search")).to_have_count(0)
    assert page.evaluate("CSS.highlights.has('found')") is False


def test_with_twice_the_text_what_is_found_has_room_on_a_phone(phone: ChatPage) -> None:
    page = phone.page
    imported(phone, document(20))
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    phone.press("Find in this chat")
    # Chromium looks again at how high a container is in letters when its size changes.
    page.set_viewport_size({"width": 360, "height": 700})
    expect(page.locator(".foot")).to_be_hidden()
    assert page.locator("#messages").evaluate("list => list.clientHeight") > 300
    phone.press("End the search")
    expect(page.get_by_role("textbox", name="Message")).to_be_focused()
