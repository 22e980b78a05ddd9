"""Drafts on a person's page over a real server: the setting, and what a reply says of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.server_process import RunningServer
from tests.web.chat_page import ChatPage
from tests.web.whole_chat.on_a_phone import settings_on_a_phone

QUESTION = "What is split inference?"
_TRIPS = re.compile(r"([\d,]+) round trips?, ([\d,]+) of ([\d,]+) drafts? right")


@pytest.fixture
def chat(chromium: Browser, server: RunningServer) -> Iterator[ChatPage]:
    """The page with its model, and settings with which every reply to a message is the same."""
    with settings_on_a_phone(chromium, server.url) as page:
        page.tab("Sampling")
        page.page.get_by_label("Temperature", exact=True).fill("0.7")
        page.page.get_by_text("More settings", exact=True).tap()
        page.page.get_by_label("Seed", exact=True).fill("5")
        page.page.keyboard.press("Escape")
        yield page


def another(chat: ChatPage) -> str:
    """The second reply to the message, once it is whole."""
    chat.press("Another reply")
    expect(chat.page.get_by_role("group", name="Version 2 of 2")).to_be_visible()
    return chat.whole_reply(0)


def figures(chat: ChatPage) -> str:
    return chat.page.locator(".figures").last.inner_text()


def test_another_reply_is_the_same_in_fewer_round_trips_and_says_so(chat: ChatPage) -> None:
    chat.write(QUESTION)
    first = chat.whole_reply(0)
    assert another(chat) == first
    found = _TRIPS.search(figures(chat))
    assert found is not None, figures(chat)
    trips, right, drafted = (int(number.replace(",", "")) for number in found.groups())
    assert 0 < right <= drafted
    assert trips > 0
    chat.picture("phone-drafts-told")


def test_drafts_are_a_setting_with_what_they_go_by(chat: ChatPage) -> None:
    chat.write(QUESTION)
    first = chat.whole_reply(0)
    chat.settings("Sampling")
    drafts = chat.page.get_by_role("radiogroup", name="Drafts", exact=True)
    memory = chat.page.get_by_role("radiogroup", name="Drafts go by")
    # What is under "More settings" is open where something of it was changed.
    expect(drafts.get_by_label("Auto", exact=True)).to_be_checked()
    expect(memory.get_by_label("This chat", exact=True)).to_be_checked()
    chat.picture("phone-drafts")
    drafts.get_by_label("Off", exact=True).tap()
    expect(memory).to_have_count(0)
    chat.page.keyboard.press("Escape")
    assert another(chat) == first
    assert "round trip" not in figures(chat)
    chat.press("What the server sees")
    expect(chat.page.get_by_text("Drafts are on")).to_have_count(0)
