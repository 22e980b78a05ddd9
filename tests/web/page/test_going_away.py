"""A page that goes while it writes, and a browser whose storage is full: nothing shown is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.exhaustive import EXHAUSTIVE
from tests.web.browsing import PHONE, Browser
from tests.web.fake_page import answered, at, opened

SIZE: dict[str, Any] = PHONE | {"viewport": {"width": 390, "height": 844}}


# The text of the reply at the moment at which its page goes.
_NOTE = """addEventListener('pagehide', () => {
  sessionStorage.shown = document.querySelector('article[aria-label=Reply] .text').innerText;
})"""
# What an unfinished line is drawn as may change once it stands still.
_MARKS = 12


def _words(text: str) -> str:
    return " ".join(text.split())


def _reload(page: Page, _: str) -> None:
    page.reload()


def _elsewhere_and_back(page: Page, url: str) -> None:
    page.goto("about:blank")
    page.goto(f"{url}?engine=long")


def _back_again(page: Page, url: str) -> None:
    page.goto(f"{url}licences.txt")
    page.go_back()


WAYS, LENGTHS = (_reload, _elsewhere_and_back, _back_again), (1, 40, 200)


# Each way and each length once, unless all of them run.
@pytest.mark.parametrize(("go", "words"), [*(product if EXHAUSTIVE else zip)(WAYS, LENGTHS)])
def test_a_reply_is_there_after_its_page_went_as_far_as_it_was_shown(
    chromium: Browser, url: str, go: Callable[[Page, str], None], words: int
) -> None:
    with opened(chromium, url, **SIZE) as chat:
        at(chat.page, url, "long")
        chat.write("At length, please")
        seen = "document.querySelector('article[aria-label=Reply] .text')?.innerText.split(/\\s+/)"
        chat.page.wait_for_function(f"() => {seen}?.length > {words}")
        chat.page.evaluate(_NOTE)
        chat.errors.clear()
        go(chat.page, url)
        expect(chat.reply(0)).not_to_be_empty()
        shown = _words(chat.page.evaluate("sessionStorage.shown"))[:-_MARKS]
        assert _words(chat.reply(0).inner_text()).startswith(shown)
        chat.errors.clear()


def test_a_message_is_there_after_its_page_went_at_once(chromium: Browser, url: str) -> None:
    with opened(chromium, url, **SIZE) as chat:
        at(chat.page, url, "ready")
        chat.page.get_by_role("textbox", name="Message").fill("Remember me")
        # In one turn of the page: the database has not answered yet.
        chat.page.evaluate("document.querySelector('[aria-label=Send]').click(); location.reload()")
        expect(chat.message(0)).to_contain_text("Remember me")


# Chromium counts no quota override for IndexedDB, so what a full one throws is thrown here.
_FULL = """
const put = IDBObjectStore.prototype.put;
IDBObjectStore.prototype.put = function (...value) {
  if (sessionStorage.full) throw new DOMException('full', 'QuotaExceededError');
  return put.apply(this, value);
};
"""


def test_a_chat_that_the_full_storage_does_not_take_stays_named_and_can_be_exported(
    chromium: Browser, url: str
) -> None:
    with opened(chromium, url, **SIZE) as chat:
        chat.page.add_init_script(_FULL)
        at(chat.page, url, "ready")
        answered(chat, "This one is saved")
        chat.page.evaluate("sessionStorage.full = 'yes'")
        answered(chat, "This one is not", replies=2)
        banner = chat.page.locator(".banner").filter(has_text="This chat is not saved")
        expect(banner).to_contain_text("The storage of this browser is full")
        # Longer than any toast stands.
        chat.page.wait_for_timeout(5000)
        expect(banner).to_be_visible()
        chat.picture("storage-full")
        with chat.page.expect_download() as download:
            chat.press("Export this chat", banner)
        document = json.loads(download.value.path().read_text())
        assert [message["content"] for message in document["messages"]][2] == "This one is not"
        _reload(chat.page, url)
        expect(chat.message(1)).to_contain_text("This one is not")
        expect(banner).to_be_visible()
        chat.page.evaluate("delete sessionStorage.full")
        chat.press("Save again", banner)
        expect(banner).to_have_count(0)
        _reload(chat.page, url)
        expect(chat.message(1)).to_contain_text("This one is not")
        chat.errors.clear()
