"""A chat whose context is full, from the terminal's file to the reply: a real server, its page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import expect
from transformers import AutoTokenizer

from split_client.chat.context.travelling import travelling
from split_client.chat.message import Message
from split_client.saved_chats.document import (
    SavedConversation,
    load_conversation,
    save_conversation,
)
from split_server.checkpoint.folder import EMBEDDED
from tests import oracle
from tests.web.chat_page import ChatPage

_SAID = "Split inference cuts a model in two. The device holds its ends. 😀 The rest is far."
_SAVED = (
    Message("system", "You are a helpful assistant. Be brief.", dropped=((28, 38),)),
    Message("user", f"First. {_SAID}"),
    Message("assistant", f"A. {_SAID}", dropped=((3, 40),)),
    Message("user", f"Second. {_SAID}"),
    Message("assistant", f"B. {_SAID}", pinned=True),
    Message("user", f"Third. {_SAID}"),
    Message("assistant", f"C. {_SAID}"),
)
_BUDGET = "180"


def _expected(messages: tuple[Message, ...]) -> tuple[int, str]:
    """Tokens of the prompt that transformers make of what is left, and generate's reply to it."""
    tokenizer: Any = AutoTokenizer.from_pretrained(EMBEDDED)
    left = [each.as_dict() for each in travelling(messages)]
    prompt = tokenizer.apply_chat_template(left, add_generation_prompt=True, return_dict=False)
    reply = tokenizer.decode(oracle.greedy(EMBEDDED, list(prompt), 256), skip_special_tokens=True)
    return len(prompt), " ".join(reply.split())


def _exported(chat: ChatPage, path: Path) -> SavedConversation:
    export = chat.page.get_by_role("button", name="Export", exact=True)
    if not export.is_visible():
        chat.page.get_by_role("button", name="More for").first.click()
    with chat.page.expect_download() as download:
        export.click()
    download.value.save_as(path)
    return load_conversation(path)


def test_a_saved_chat_goes_on_in_the_page_with_less_of_it_and_back(
    chat: ChatPage, tmp_path: Path
) -> None:
    page = chat.page
    save_conversation(tmp_path / "saved.json", SavedConversation("m", _SAVED))
    page.locator("input[type=file][accept]").set_input_files(tmp_path / "saved.json")
    expect(page.get_by_role("article", name="Reply")).to_have_count(3)
    assert _exported(chat, tmp_path / "back.json").messages == _SAVED
    page.get_by_role("button", name="Context:").click()
    page.get_by_role("radio", name="Leave out the oldest").check()
    page.get_by_label("Budget in tokens").fill(_BUDGET)
    page.keyboard.press("Escape")
    chat.write("What is split inference?")
    reply = chat.whole_reply(3)
    saved = _exported(chat, tmp_path / "after.json").messages
    assert [message.content for message in saved[:7]] == [message.content for message in _SAVED]
    assert saved[4] == _SAVED[4]
    assert sum(len(message.dropped) for message in saved) > 2
    tokens, expected = _expected(saved[:8])
    assert tokens <= int(_BUDGET) * 3 // 4
    assert reply == expected
    # Everything back: the next reply has the whole chat before it again.
    page.get_by_role("button", name="Context:").click()
    chat.press("Bring all back")
    page.get_by_role("radio", name="Ask").check()
    page.get_by_label("Budget in tokens").fill("")
    page.keyboard.press("Escape")
    chat.write("Thank you!")
    chat.whole_reply(4)
    whole = _exported(chat, tmp_path / "whole.json").messages
    assert not any(message.dropped for message in whole)
    assert chat.whole_reply(4) == _expected(whole[:-1])[1]
