"""The page at a server with two models: one is chosen, its ends come, the chat goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from split_server.checkpoint.folder import EMBEDDED
from tests.checkpoints import tiny_checkpoint
from tests.server_process import RunningServer, running_server
from tests.several_models import SeveralModels
from tests.web.browsing import DESKTOP, PHONE
from tests.web.chat_page import ChatPage


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_checkpoint("llama", tmp_path_factory.mktemp("tiny") / "tiny-llama")


@pytest.fixture(scope="module")
def several(web_root: Path, tiny: Path) -> Iterator[RunningServer]:
    models = (f"demo={EMBEDDED}", f"tiny={tiny}")
    with running_server(models, web_root=str(web_root)) as running:
        yield running


@pytest.fixture(scope="module")
def beside(tiny: Path) -> Iterator[RunningServer]:
    with running_server(tiny) as running:
        yield running


@contextmanager
def page_at(chromium: Browser, url: str, *, touch: bool = True) -> Iterator[ChatPage]:
    options: dict[str, Any] = PHONE if touch else DESKTOP
    context = chromium.new_context(**options)
    try:
        page = ChatPage(context.new_page(), touch=touch)
        page.page.goto(url)
        yield page
        assert page.errors == []
    finally:
        context.close()


def row(chat: ChatPage, name: str) -> Locator:
    """The model of this name in the settings."""
    return chat.page.get_by_role("group", name="Model").get_by_role("radio", name=name)


def choose(chat: ChatPage, name: str) -> None:
    chat.settings("Chat")
    row(chat, name).check()
    chat.page.keyboard.press("Escape")


def test_another_model_is_chosen_its_ends_come_and_the_chat_goes_on(
    chromium: Browser, several: RunningServer
) -> None:
    with page_at(chromium, several.url) as chat:
        page = chat.page
        chat.download()
        chat.set_number("Longest reply", "8")
        chat.write("Hello")
        chat.whole_reply(0)
        chat.settings("Chat")
        expect(row(chat, "demo")).to_be_checked()
        expect(page.get_by_text("Loaded · the server’s first")).to_be_visible()
        chat.picture("models-choice-phone")
        row(chat, "tiny").focus()
        page.keyboard.press("Space")
        expect(row(chat, "tiny")).to_be_checked()
        page.keyboard.press("Escape")
        # The text of the chat is there, and the page at its root.
        expect(chat.message(0)).to_contain_text("Hello")
        assert page.url == f"{several.url}/"
        banner = page.get_by_text("This chat was with")
        expect(banner).to_be_visible()
        chat.picture("models-chosen-phone")
        chat.download()
        expect(banner).to_contain_text("tiny-llama goes on with it")
        chat.write("And then?")
        chat.whole_reply(1)
        # It was answered by the model that is chosen, and is its chat from here on.
        expect(banner).to_have_count(0)
        page.reload()
        chat.ready()
        expect(page.locator("header .under")).to_have_text("tiny-llama")
        choose(chat, "demo")
        chat.ready()
        expect(banner).to_contain_text("This chat was with tiny.")
        chat.press("Go back to tiny")
        chat.ready()
        expect(page.locator("header .under")).to_have_text("tiny-llama")


def test_where_there_is_one_model_nothing_is_to_be_chosen(chat: ChatPage) -> None:
    chat.settings("Chat")
    expect(chat.page.get_by_role("heading", name="This chat")).to_be_visible()
    expect(chat.page.get_by_role("heading", name="Model", exact=True)).to_have_count(0)


def test_a_model_that_is_being_loaded_is_waited_for_and_one_that_is_gone_is_told(
    chromium: Browser, server: RunningServer, beside: RunningServer
) -> None:
    with (
        SeveralModels({"demo": server, "tiny": beside}) as models,
        page_at(chromium, models.url, touch=False) as chat,
    ):
        page = chat.page
        chat.download()
        models.loading["tiny"] = 4
        choose(chat, "tiny")
        said = page.get_by_text("The server loads the model; the page goes on by itself.")
        expect(said).to_be_visible()
        chat.picture("models-loading-desktop")
        expect(page.get_by_role("button", name="Download")).to_be_visible()
        expect(said).to_have_count(0)
        # Its ends are taken, and the server loses it.
        chat.download()
        del models.servers["tiny"]
        page.reload()
        expect(page.get_by_text("Code: unknown_model")).to_be_visible()
        chat.settings("Chat")
        expect(page.get_by_text("Not on this server any more.")).to_be_visible()
        page.keyboard.press("Escape")
        chat.press("Use the server’s first model")
        chat.ready()
        assert page.evaluate("JSON.parse(localStorage['gatelink.settings']).model") is None
