"""Redaction as a person meets it: switched on, seen before it goes out, undone, kept, left again.

The engine needs no model and says again what it is told, in text, code, addresses and tags.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.web.browsing import DESKTOP, PHONE
from tests.web.chat_page import ChatPage
from tests.web.fake_page import at, opened
from tests.web.page.states import AXE, RULES, SMALL, WIDER

SWITCH = "Replace names, numbers and addresses in what this chat sends"
NAME, PHONE_NUMBER, IBAN = "Anna Schmidt", "+49 30 90123456", "DE89 3704 0044 0532 0130 00"
SAID = f"Write to {NAME}, {PHONE_NUMBER}, {IBAN}."
VALUES = ("Anna", "Schmidt", "90123456", "9012 3456", "0532 0130", "532013000")
_ASKED = "() => fakeEngine.asked.map((request) => JSON.stringify(request))"


@pytest.fixture
def chat(chromium: Browser, url: str) -> Iterator[ChatPage]:
    with opened(chromium, f"{url}?engine=echo", **DESKTOP, accept_downloads=True) as page:
        expect(page.page.locator("#status")).to_contain_text("recover")
        yield page


def switch(chat: ChatPage, *, on: bool = True) -> None:
    """In the settings of the shown chat."""
    chat.press("Settings")
    chat.page.get_by_label(SWITCH).set_checked(on)
    closed(chat)


def closed(chat: ChatPage) -> None:
    chat.page.keyboard.press("Escape")
    expect(chat.page.get_by_role("dialog")).to_have_count(0)


def asked(page: Page) -> list[str]:
    """What reached the engine, as JSON."""
    found: list[str] = page.evaluate(_ASKED)
    return found


def clean(texts: list[str]) -> None:
    """No value is in them."""
    for text in texts:
        assert not [value for value in VALUES if value in text]


def going_out(page: Page) -> Locator:
    return page.get_by_role("group", name="What goes out")


def test_values_go_out_as_surrogates_and_come_back_in_visible_text_alone(chat: ChatPage) -> None:
    page = chat.page
    switch(chat)
    expect(going_out(page)).to_contain_text("Redaction is on.")
    field = page.get_by_role("textbox", name="Message")
    field.fill(SAID)
    expect(going_out(page).locator("strong")).to_have_count(4)
    preview = going_out(page).locator("span[dir=auto]").inner_text()
    clean([preview])
    chat.press("Send")
    chat.whole_reply(0)
    sent = asked(page)
    clean(sent)
    assert json.loads(sent[0])["messages"][-1]["content"] == preview
    reply = chat.reply(0)
    expect(reply).to_contain_text(f"You said: {SAID}")
    expect(reply.locator("code")).to_have_text(SAID)
    links = reply.locator("a")
    expect(links.first).to_have_text(f"more of {SAID}")
    targets = links.evaluate_all("links => links.map((link) => decodeURI(link.href))")
    clean(targets)
    whole = reply.inner_text()
    # A bare address and a tag are text here, and would be none elsewhere.
    clean([whole[whole.index("https://example.org/") :]])


def test_the_map_is_shown_kept_exported_and_gone_with_its_chat(
    chat: ChatPage, tmp_path: Path
) -> None:
    page = chat.page
    switch(chat)
    chat.write(SAID)
    chat.whole_reply(0)
    page.reload()
    expect(chat.reply(0)).to_contain_text(f"You said: {SAID}")
    page.get_by_role("textbox", name="Message").fill(f"Thank {NAME}")
    expect(going_out(page).get_by_role("button")).to_have_text("2 values replaced")
    going_out(page).get_by_role("button").click()
    sheet = page.get_by_role("dialog", name="What goes out")
    expect(sheet.locator("dt")).to_have_text(
        ["Anna First name", "Schmidt Surname", f"{PHONE_NUMBER} Phone number", f"{IBAN} IBAN"]
    )
    closed(chat)
    chat.press("Send")
    chat.whole_reply(1)
    clean(asked(page))
    page.get_by_role("button", name="More for").first.click()
    with page.expect_download() as download:
        chat.press("Export")
    download.value.save_as(tmp_path / "chat.json")
    document = json.loads((tmp_path / "chat.json").read_text())
    kinds = [entry[0] for entry in document["redaction"]["entries"]]
    assert kinds == ["given", "family", "phone", "iban"]
    assert document["messages"][0]["content"] == SAID
    assert {*document["messages"][1]} == {"role", "content"}
    chat.press("Delete")
    expect(page.get_by_text("Deleted")).to_be_visible()
    assert stored(page) == []


def stored(page: Page) -> list[Any]:
    """All chats in the browser's database that have a map."""
    script = """() => new Promise((resolve, reject) => {
      const request = indexedDB.open('gatelink-chats');
      request.onerror = () => reject(request.error);
      request.onsuccess = () => {
        const names = [...request.result.objectStoreNames];
        const read = request.result.transaction(names);
        const found = names.map((name) => read.objectStore(name).getAll());
        read.oncomplete = () => {
          request.result.close();
          resolve(found.flatMap((each) => each.result).map((each) => each.chat ?? each)
            .filter((each) => each.redaction?.entries.length));
        };
      };
    })"""
    found: list[Any] = page.evaluate(script)
    return found


def test_names_of_ones_own_are_replaced_and_it_says_what_has_gone_out(chat: ChatPage) -> None:
    page = chat.page
    name = "Xaviera Quuxley"
    chat.write(f"Ask {name} and {NAME}")
    chat.whole_reply(0)
    chat.press("Settings")
    page.get_by_label(SWITCH).check()
    told = page.get_by_text("What this chat sent before redaction was switched on")
    expect(told).to_contain_text("2 values were in it:")
    page.get_by_label("Names of your own").fill(f"{name}\n")
    page.get_by_label("Countries").focus()
    expect(told).to_contain_text("4 values were in it:")
    page.get_by_label("Names of your own").fill("..")
    expect(page.get_by_text("no word of two Latin letters")).to_be_visible()
    closed(chat)
    chat.write("And now?")
    chat.whole_reply(1)
    last = asked(page)[-1]
    clean([last])
    assert "Xaviera" not in last
    assert "Quuxley" not in last
    switch(chat, on=False)
    chat.write("Off")
    chat.whole_reply(2)
    assert name in asked(page)[-1]


def test_another_reply_an_edit_and_a_copy_have_the_persons_values(chat: ChatPage) -> None:
    page = chat.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    switch(chat)
    chat.write(SAID)
    chat.whole_reply(0)
    chat.press("Copy reply")
    copied: str = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"You said: {SAID}")
    clean([copied[copied.index("](") :]])
    chat.press("Another reply")
    expect(page.get_by_role("group", name="Version 2 of 2")).to_be_visible()
    chat.whole_reply(0)
    clean(asked(page))
    chat.press("Edit message")
    editor = page.get_by_role("textbox", name="Edit message")
    expect(editor).to_have_value(SAID)
    editor.fill(f"{NAME} moved")
    chat.press("Send", chat.message(0))
    expect(chat.reply(0)).to_contain_text(f"You said: {NAME} moved")
    clean(asked(page))


def test_a_file_and_a_message_that_waits_go_out_with_surrogates(chat: ChatPage) -> None:
    page = chat.page
    switch(chat)
    page.get_by_label("Attach text files").first.set_input_files(
        {"name": "a.txt", "mimeType": "text/plain", "buffer": SAID.encode()}
    )
    chat.write("Read this. " + "One more word. " * 40)
    page.get_by_role("textbox", name="Message").fill(f"Then call {NAME}.")
    chat.press("Send when the reply ends")
    expect(page.get_by_text(f"Then call {NAME}.").first).to_be_visible()
    chat.whole_reply(1)
    sent = asked(page)
    assert len(sent) == 2
    clean(sent)


def test_a_new_chat_begins_with_redaction_once_it_was_chosen_before_one(chat: ChatPage) -> None:
    page = chat.page
    switch(chat)
    page.reload()
    expect(going_out(page)).to_be_visible()
    chat.press("New chat")
    chat.write(SAID)
    chat.whole_reply(0)
    clean(asked(page))


def test_two_tabs_of_one_chat_never_send_its_values(chat: ChatPage, url: str) -> None:
    switch(chat)
    chat.write(SAID)
    chat.whole_reply(0)
    other = ChatPage(chat.page.context.new_page(), touch=False)
    at(other.page, url, "echo")
    expect(other.reply(0)).to_contain_text(f"You said: {SAID}")
    other.write(f"Greet {NAME}")
    other.whole_reply(1)
    chat.page.bring_to_front()
    expect(chat.reply(1)).to_contain_text(f"You said: Greet {NAME}")
    chat.write(f"And {IBAN}")
    chat.whole_reply(2)
    clean(asked(chat.page))
    clean(asked(other.page))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_its_parts_are_fit_for_a_phone_a_finger_and_a_reader(
    chromium: Browser, url: str, scheme: str
) -> None:
    # As in test_page.py: axe comes as a script of its own.
    options: dict[str, Any] = {**PHONE, "color_scheme": scheme, "bypass_csp": True}
    with opened(chromium, f"{url}?engine=echo", **options, reduced_motion="reduce") as chat:
        page = chat.page
        page.add_script_tag(url=f"{url}axe.min.js")
        expect(page.locator("#status")).to_contain_text("recover")
        chat.press("Settings")
        page.get_by_label(SWITCH).check()
        expect(page.get_by_label("Names of your own")).to_be_visible()
        page.get_by_label("Names of your own").scroll_into_view_if_needed()
        _fit(chat, f"redaction-settings-{scheme}")
        closed(chat)
        chat.write(SAID)
        chat.whole_reply(0)
        page.get_by_role("textbox", name="Message").fill(f"Tell {NAME} of it.")
        expect(going_out(page).locator("strong")).to_have_count(2)
        _fit(chat, f"redaction-chat-{scheme}")
        going_out(page).get_by_role("button").tap()
        expect(page.locator("dialog dt")).to_have_count(4)
        _fit(chat, f"redaction-sheet-{scheme}")


def _fit(chat: ChatPage, name: str) -> None:
    page = chat.page
    chat.picture(name)
    assert page.evaluate(AXE, RULES) == []
    assert page.evaluate(SMALL) == []
    assert page.evaluate(WIDER) == 0
