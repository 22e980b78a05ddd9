"""A person's page over a server that has kept what it computed of their chats."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.server_process import RunningServer
from tests.web.chat_page import ChatPage
from tests.web.whole_chat.on_a_phone import settings_on_a_phone

SYSTEM = "Answer in short sentences. " + "The relay copies bytes, and no more than that. " * 12
FIRST, SECOND = "What is split inference?", "And what does the relay do?"
_THERE = re.compile(r"([\d,]+) of ([\d,]+) tokens were there")
_SALT = "() => localStorage.getItem('gatelink.cache_salt')"


@pytest.fixture
def chat(chromium: Browser, server: RunningServer) -> Iterator[ChatPage]:
    """The page of a browser without a token, with its model and a system prompt."""
    with settings_on_a_phone(chromium, server.url) as page:
        page.page.get_by_role("textbox", name="System prompt").fill(SYSTEM)
        page.tab("Sampling")
        page.page.get_by_label("Longest reply", exact=True).fill("12")
        page.page.keyboard.press("Escape")
        yield page


def there(chat: ChatPage) -> tuple[int, int]:
    """How many tokens of the last prompt were there, by the line under the reply."""
    line = chat.page.locator(".figures").last
    expect(line).to_have_text(_THERE)
    found = _THERE.search(line.inner_text())
    assert found is not None
    held, all_tokens = (int(number.replace(",", "")) for number in found.groups())
    return held, all_tokens


def test_a_chat_that_was_reloaded_says_how_much_of_it_was_there(
    chat: ChatPage, server: RunningServer
) -> None:
    chat.write(FIRST)
    chat.whole_reply(0)
    assert "were there" not in chat.page.locator(".figures").inner_text()
    salt = chat.page.evaluate(_SALT)
    assert re.fullmatch("[0-9a-f]{32}", salt)
    chat.page.reload()
    chat.ready()
    chat.press("Saved chats")
    chat.page.get_by_role("listitem").filter(has_text=FIRST).get_by_role("button").first.tap()
    chat.write(SECOND)
    chat.whole_reply(1)
    held, all_tokens = there(chat)
    assert all_tokens * 0.6 < held < all_tokens
    assert chat.page.evaluate(_SALT) == salt
    chat.picture("phone-kept")


def test_a_new_chat_with_the_same_system_prompt_finds_it_unless_nothing_is_kept(
    chat: ChatPage,
) -> None:
    chat.write(FIRST)
    chat.whole_reply(0)
    chat.press("New chat")
    chat.write(SECOND)
    chat.whole_reply(0)
    held, all_tokens = there(chat)
    assert held > all_tokens / 2
    chat.settings("Sampling")
    chat.page.get_by_text("More settings", exact=True).tap()
    keep = chat.page.get_by_role("radiogroup", name="Keep on the server")
    expect(keep.get_by_label("On", exact=True)).to_be_checked()
    keep.get_by_label("Off", exact=True).tap()
    chat.picture("phone-keep-on-the-server")
    chat.page.keyboard.press("Escape")
    chat.press("New chat")
    chat.write(FIRST)
    chat.whole_reply(0)
    assert "were there" not in chat.page.locator(".figures").inner_text()


def test_a_chat_is_forgotten_on_the_server_after_it_was_reloaded(
    chat: ChatPage, server: RunningServer
) -> None:
    chat.write(FIRST)
    chat.whole_reply(0)
    chat.page.reload()
    chat.ready()
    chat.press("Saved chats")
    item = chat.page.get_by_role("listitem").filter(has_text=FIRST).first
    item.get_by_role("button", name="More for").tap()
    chat.press("Forget on the server", item)
    expect(item.get_by_text("The chat stays here", exact=False)).to_be_visible()
    chat.picture("phone-forget")
    chat.press("Forget on the server", item)
    expect(chat.page.get_by_text("The server deleted", exact=False)).to_be_visible()
    chat.picture("phone-forgotten")
    # The session that the page left goes with its idle limit, and is not kept then.
    server.lose_sessions()
    item.get_by_role("button").first.tap()
    chat.write(SECOND)
    chat.whole_reply(1)
    assert "were there" not in chat.page.locator(".figures").last.inner_text()
