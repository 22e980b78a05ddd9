"""A chat whose replies have a form, as a person on a phone sets it up, over a real server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.server_process import RunningServer
from tests.web.chat_page import ChatPage
from tests.web.whole_chat.on_a_phone import settings_on_a_phone

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "age": {"type": "integer", "minimum": 0, "maximum": 130},
        "tags": {"type": "array", "items": {"enum": ["new", "old"]}, "minItems": 1},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}
# The embedded model has no reason to end a string that is not bounded by what is left.
LONGEST = "60"


@pytest.fixture
def chat(chromium: Browser, server: RunningServer) -> Iterator[ChatPage]:
    """The page of a browser with its model, whose settings are open."""
    with settings_on_a_phone(chromium, server.url) as page:
        page.tab("Sampling")
        page.page.get_by_label("Longest reply", exact=True).fill(LONGEST)
        page.tab("Chat")
        yield page


def chosen(chat: ChatPage, kind: str) -> Locator:
    """The field of that form's text."""
    chat.page.get_by_label("Form of replies").select_option(kind)
    return chat.page.locator("#form-text")


def kept(chat: ChatPage) -> None:
    """Close the settings once the chat has the form."""
    expect(chat.page.locator("#form-hint")).to_contain_text("In use.")
    chat.page.keyboard.press("Escape")


def test_a_reply_under_a_schema_validates_and_is_shown_as_code(chat: ChatPage) -> None:
    field = chosen(chat, "JSON schema")
    hint = chat.page.locator("#form-hint")
    field.fill('{"type": "object",\n "properties": }')
    expect(hint).to_contain_text("line 2, column 16")
    field.fill(json.dumps({"type": "array", "items": {"uniqueItems": True}}))
    expect(hint).to_contain_text(re.compile("uniqueItems cannot be enforced.*#/items"))
    chat.picture("phone-form-refused")
    field.fill(json.dumps(SCHEMA))
    expect(hint).to_contain_text("in its order")
    chat.picture("phone-form")
    kept(chat)
    chat.write("Who is Ada?")
    chat.whole_reply(0)
    value = json.loads(chat.reply(0).locator("pre").inner_text())
    jsonschema.validate(value, SCHEMA)
    expect(chat.page.locator(".figures").last).to_contain_text("forced")
    assert chat.page.get_by_text("Cut at the longest").count() == 0
    chat.picture("phone-form-reply")


def test_a_reply_is_one_of_some_texts_and_the_form_is_still_there_after_a_reload(
    chat: ChatPage,
) -> None:
    chosen(chat, "Choices").fill("yes, always\nno, never")
    kept(chat)
    chat.write("Is it so?")
    first = chat.whole_reply(0)
    assert first in ("yes, always", "no, never")
    chat.page.reload()
    chat.ready()
    chat.press("Saved chats")
    item = chat.page.get_by_role("listitem").filter(has_text="Is it so?")
    item.get_by_role("button").first.tap()
    chat.write("Really?")
    assert chat.whole_reply(1) in ("yes, always", "no, never")
    chat.press("New chat")
    chat.write("Is it so?")
    assert chat.whole_reply(0) not in ("yes, always", "no, never")


def test_a_reply_matches_a_regular_expression(chat: ChatPage) -> None:
    chosen(chat, "Regular expression").fill("[0-9]{4}-(0[1-9]|1[0-2])")
    kept(chat)
    chat.write("When?")
    assert re.fullmatch(r"[0-9]{4}-(0[1-9]|1[0-2])", chat.whole_reply(0))
