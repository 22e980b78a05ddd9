"""Noise as a person meets it: switched on in the settings, seen, kept, switched off."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.server_process import RunningServer
from tests.web.chat_page import ChatPage
from tests.web.noise.records import Seen, keys_of

FIRST, SECOND = "What is split inference?", "And what does the relay do?"
# The model's table is looked at for the first time.
_SEARCH = 30_000
SWITCH = "Add noise to what this chat sends"


@pytest.fixture
def seen(server: RunningServer) -> Iterator[Seen]:
    seen = Seen()
    end = seen.watch(server.parts.framed)
    yield seen
    end()


def closed(chat: ChatPage) -> None:
    chat.page.keyboard.press("Escape")
    expect(chat.page.get_by_role("dialog")).to_have_count(0)


def noised(chat: ChatPage, sigma: str) -> None:
    """Switch noise on, given as a sigma."""
    chat.press("Settings")
    chat.page.get_by_label(SWITCH).check()
    chat.page.get_by_role("radio", name="Sigma").check(force=True)
    chat.page.get_by_role("textbox", name="Sigma").fill(sigma)
    told = chat.page.get_by_text("Nothing was sent with noise under this key yet.")
    expect(told).to_be_visible(timeout=_SEARCH)
    closed(chat)


def exported(chat: ChatPage, folder: Path) -> str:
    chat.page.get_by_role("button", name="More for").first.click()
    with chat.page.expect_download() as download:
        chat.press("Export")
    download.value.save_as(folder / "chat.json")
    return (folder / "chat.json").read_text()


def test_a_chat_with_noise_is_kept_seen_and_left_again(
    chat: ChatPage, seen: Seen, tmp_path: Path
) -> None:
    page = chat.page
    noised(chat, "0.02")
    chat.write(FIRST)
    first = chat.whole_reply(0)
    chat.press("What the server sees")
    panel = page.get_by_role("dialog", name="What the server sees")
    expect(panel.get_by_text("This chat is in noised mode")).to_be_visible()
    rows = seen.rows // len(seen.steps[-1][2])
    expect(panel.get_by_text(f"All {rows} rows replaced").first).to_be_visible()
    expect(panel.get_by_text("One token replaced, sent once").first).to_be_visible()
    closed(chat)

    document = exported(chat, tmp_path)
    noise = json.loads(document)["tree"]["noise"]
    assert noise["on"]
    assert noise["sigma"] == 0.02
    assert "key" not in document

    page.reload()
    # What is typed before the chat is there stays with the new one.
    expect(page.get_by_role("button", name="Noise on")).to_be_visible()
    chat.ready()
    assert chat.whole_reply(0) == first
    noisy = seen.taken()
    chat.press("Another reply")
    expect(page.get_by_role("group", name="Version 2 of 2")).to_be_visible()
    chat.whole_reply(0)
    assert seen.taken()[0] == noisy[0]

    chat.press("Settings")
    page.get_by_label(SWITCH).uncheck()
    expect(page.get_by_text("sends this whole chat to the server without noise")).to_be_visible()
    closed(chat)
    chat.write(SECOND)
    chat.whole_reply(1)
    assert seen.steps[0][0] == 0
    assert seen.steps[0][2][: len(noisy[0][2])] != noisy[0][2]
    expect(page.get_by_role("button", name="Noise on")).to_have_count(0)

    page.get_by_role("button", name="More for").first.click()
    chat.press("Delete")
    expect(page.get_by_text("Deleted")).to_be_visible()
    for _ in range(100):
        if not keys_of(page, "chats"):
            break
        page.wait_for_timeout(50)
    assert keys_of(page, "chats") == []


def test_what_another_tab_sends_is_counted_in_the_totals_that_are_open(
    chat: ChatPage, server: RunningServer
) -> None:
    noised(chat, "0.02")
    chat.write(FIRST)
    chat.whole_reply(0)
    chat.press("Settings")
    count = chat.page.get_by_text("rows replaced").nth(1)
    before = count.inner_text()
    other = ChatPage(chat.page.context.new_page(), touch=False)
    other.page.goto(server.url)
    expect(other.page.get_by_role("button", name="Noise on")).to_be_visible()
    other.ready()
    other.write(SECOND)
    other.whole_reply(1)
    expect(count).not_to_have_text(before)


def test_a_budget_that_is_used_up_is_said_in_words(chat: ChatPage, seen: Seen) -> None:
    page = chat.page
    chat.press("Settings")
    page.get_by_label(SWITCH).check()
    page.get_by_label("Budget", exact=True).fill("5")
    expect(page.get_by_text("room for 0 more rows")).to_be_visible(timeout=_SEARCH)
    closed(chat)
    chat.write(FIRST)
    expect(page.get_by_text("No reply: the noise budget does not allow this")).to_be_visible()
    again = page.get_by_role("button", name="Try again")
    expect(page.get_by_role("button", name="Edit the message")).to_be_visible()
    expect(again).to_have_count(0)
    assert seen.steps == []
    # With another budget it can be answered.
    chat.press("Settings")
    page.get_by_label("Budget", exact=True).fill("50000")
    closed(chat)
    expect(again).to_be_visible()


def test_a_cut_is_asked_for_with_what_it_charges_and_charged_as_what_is_sent(
    chat: ChatPage, seen: Seen
) -> None:
    page = chat.page
    noised(chat, "0.02")
    for number, text in enumerate((FIRST, SECOND)):
        chat.write(text)
        chat.whole_reply(number)
    meter = page.get_by_role("button", name="Context:")
    # It counts a moment after the reply.
    total = re.compile(r"([1-9]\d*) of 4,096")
    expect(meter).to_have_accessible_name(total)
    full = total.search(meter.inner_text())
    assert full is not None
    meter.click()
    page.get_by_role("radio", name="Leave out the oldest").check()
    expect(page.get_by_text("With noise it is always asked")).to_be_visible()
    page.get_by_label("Budget in tokens").fill(full[1])
    closed(chat)
    before = seen.rows
    chat.write("Thank you!")
    banner = page.get_by_role("alert")
    expect(banner).to_contain_text("Leaving the oldest")
    said = re.search(r"up to (\d+) rows are charged anew", banner.inner_text())
    assert said is not None
    assert seen.rows == before
    chat.press("Leave out and reply")
    chat.whole_reply(2)
    sent = (seen.rows - before) // len(seen.steps[-1][2])
    assert sent >= int(said[1])
    chat.press("What the server sees")
    panel = page.get_by_role("dialog", name="What the server sees")
    rows = seen.rows // len(seen.steps[-1][2])
    expect(panel.get_by_text(f"All {rows:,} rows replaced").first).to_be_visible()
    expect(panel.get_by_text("One token replaced, sent up to 2 times").first).to_be_visible()
