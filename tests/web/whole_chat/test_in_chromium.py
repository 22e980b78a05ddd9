"""The whole chat in Chromium: a real server on TLS, the real relay, a trusted local authority.

On a phone's viewport with touch, and on a desktop's.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from transformers import AutoTokenizer

from split_server import cli as server_cli
from split_server.checkpoint.folder import EMBEDDED
from tests import oracle
from tests.exhaustive import EXHAUSTIVE
from tests.web.browsing import DESKTOP, PHONE
from tests.web.chat_page import ChatPage
from tests.web.whole_chat.secure import SecureServer, secure_server

FIRST, SECOND, EDITED = "What is split inference?", "And what does the relay do?", "Thank you!"
_VIEWPORTS = {"phone": PHONE, "desktop": DESKTOP}
# Branches of a chat have little to do with the size of the page.
VIEWPORTS = list(_VIEWPORTS) if EXHAUSTIVE else ["phone"]


@pytest.fixture(scope="module")
def secure(web_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureServer]:
    with secure_server(tmp_path_factory.mktemp("secure"), web_root=str(web_root)) as running:
        yield running


@pytest.fixture(params=_VIEWPORTS)
def viewport(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def device(request: pytest.FixtureRequest) -> str:
    """The name of a test's device, as the server keeps it; no two are the same."""
    return str(request.node.name)[-40:].replace("[", ".").rstrip("]")


@pytest.fixture
def chat(secure: SecureServer, viewport: str, request: pytest.FixtureRequest) -> Iterator[ChatPage]:
    """The page of a device that is paired and has its model."""
    secure.forgive()
    context = secure.browser.new_context(**_VIEWPORTS[viewport])
    try:
        page = ChatPage(context.new_page(), touch=viewport == "phone")
        page.pair(secure.link(), device(request))
        page.download()
        yield page
        assert page.errors == []
    finally:
        context.close()


def said(*messages: str) -> list[dict[str, str]]:
    """A chat, the user's messages and the model's in turn."""
    roles = ("user", "assistant")
    return [{"role": roles[i % 2], "content": text} for i, text in enumerate(messages)]


@cache
def expected(*messages: str) -> str:
    """Hugging Face's reply, in one line."""
    tokenizer: Any = AutoTokenizer.from_pretrained(EMBEDDED)
    prompt = tokenizer.apply_chat_template(
        said(*messages), add_generation_prompt=True, return_dict=False
    )
    ids = oracle.greedy(EMBEDDED, list(prompt), 256)
    text: str = tokenizer.decode(ids, skip_special_tokens=True)
    return " ".join(text.split())


def until_cut(chat: ChatPage, secure: SecureServer, principals: set[str]) -> None:
    """Wait until the server has closed what one of them had open, at most ten seconds."""
    for _ in range(200):
        if principals - secure.server.app._leases._open.keys():
            return
        chat.page.wait_for_timeout(50)
    raise AssertionError("the revoked device was not cut")


def test_a_device_pairs_downloads_and_chats_through_the_relay(
    chat: ChatPage, secure: SecureServer, viewport: str
) -> None:
    assert chat.page.url == f"{secure.url}/"
    chat.picture(f"{viewport}-empty")
    chat.write(FIRST)
    first = chat.whole_reply(0)
    assert first == expected(FIRST)
    chat.write(SECOND)
    assert chat.whole_reply(1) == expected(FIRST, first, SECOND)
    chat.picture(f"{viewport}-chat")


@pytest.mark.parametrize("viewport", VIEWPORTS, indirect=True)
def test_regenerating_editing_and_undoing_keep_every_branch(chat: ChatPage) -> None:
    chat.write(FIRST)
    first = chat.whole_reply(0)
    chat.write(SECOND)
    second = chat.whole_reply(1)
    chat.press("Edit message", chat.message(1))
    chat.page.get_by_role("textbox", name="Edit message").fill(EDITED)
    chat.press("Send", chat.message(1))
    expect(chat.message(1).get_by_role("group", name="Version 2 of 2")).to_be_visible()
    assert chat.whole_reply(1) == expected(FIRST, first, EDITED)
    chat.press("Version before", chat.message(1))
    expect(chat.message(1).get_by_role("group", name="Version 1 of 2")).to_be_visible()
    assert chat.whole_reply(1) == second
    chat.press("Another reply", chat.page.get_by_role("article", name="Reply").nth(1))
    expect(chat.page.get_by_text("At temperature 0 another reply is the same one.")).to_be_visible()
    chat.press("The same again")
    expect(chat.page.get_by_role("group", name="Version 2 of 2").last).to_be_visible()
    assert chat.whole_reply(1) == second
    chat.press("Take back the last exchange")
    expect(chat.page.get_by_role("article", name="You")).to_have_count(1)
    assert chat.whole_reply(0) == first


@pytest.mark.parametrize("viewport", ["desktop"], indirect=True)
def test_a_stopped_reply_stays_and_says_so(chat: ChatPage) -> None:
    chat.set_number("Temperature", "1.5")
    chat.write("Tell me everything about split inference, at length.")
    expect(chat.reply(0)).not_to_be_empty()
    chat.stop()
    chat.whole_reply(0)
    expect(chat.page.get_by_text("Stopped by you.")).to_be_visible()


@pytest.mark.parametrize("viewport", ["phone"], indirect=True)
def test_a_chat_is_still_there_after_the_page_was_closed(
    chat: ChatPage, secure: SecureServer
) -> None:
    chat.write(FIRST)
    first = chat.whole_reply(0)
    page = chat.page.context.new_page()
    chat.page.close()
    again = ChatPage(page, touch=chat.touch)
    again.page.goto(secure.url)
    again.ready()
    if again.page.get_by_role("button", name="Saved chats").is_visible():
        again.press("Saved chats")
    entry = again.page.get_by_role("listitem").filter(has_text=FIRST).get_by_role("button").first
    entry.tap() if again.touch else entry.click()
    assert again.whole_reply(0) == first
    again.write(SECOND)
    assert again.whole_reply(1) == expected(FIRST, first, SECOND)


def test_a_revoked_device_is_cut_at_once_and_told_to_pair_again(
    chat: ChatPage,
    secure: SecureServer,
    viewport: str,
    request: pytest.FixtureRequest,
) -> None:
    chat.write(FIRST)
    chat.whole_reply(0)
    connected = set(secure.server.app._leases._open)
    assert (
        server_cli.main(["devices", "revoke", device(request), "--state", str(secure.state)]) == 0
    )
    until_cut(chat, secure, connected)
    chat.write(SECOND)
    expect(chat.page.get_by_role("heading", name="Pair this browser")).to_be_visible()
    chat.picture(f"{viewport}-revoked")


@pytest.mark.parametrize("viewport", ["phone"], indirect=True)
def test_markdown_with_a_script_stays_text(chat: ChatPage) -> None:
    hostile = "<img src=x onerror=alert(1)> <script>alert(2)</script> [x](javascript:alert(3))"
    chat.page.on("dialog", lambda _: chat.errors.append("a dialog was opened"))
    chat.write(hostile)
    chat.whole_reply(0)
    expect(chat.message(0)).to_contain_text("<script>alert(2)</script>")
    assert chat.page.locator("main script, main img").count() == 0
