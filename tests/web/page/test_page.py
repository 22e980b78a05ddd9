"""The page itself: settings, chats, themes, and plain HTTP; with an engine that needs no model."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.web.browsing import DESKTOP, PHONE, launched
from tests.web.chat_page import ChatPage
from tests.web.fake_page import answered, opened
from tests.web.page.states import closed


def test_settings_are_kept_and_go_back_to_what_the_model_recommends(phone: ChatPage) -> None:
    page = phone.page
    expect(page.locator("#status")).to_contain_text("recover")
    phone.press("Settings")
    page.get_by_label("System prompt", exact=True).fill("Be brief.")
    phone.tab("Sampling")
    field = page.get_by_label("Temperature", exact=True)
    expect(field).to_have_value("0.7")
    field.fill("1.3")
    page.get_by_text("More settings").click()
    page.get_by_label("Stop texts").fill("\\n\n###")
    closed(page)
    page.reload()
    phone.press("Settings")
    expect(page.get_by_label("System prompt", exact=True)).to_have_value("Be brief.")
    phone.tab("Sampling")
    expect(field).to_have_value("1.3")
    expect(page.get_by_label("Stop texts")).to_have_value("\\n\n###")
    phone.press("Reset Temperature to 0.7")
    expect(field).to_have_value("0.7")
    phone.press("Reset all")
    expect(page.get_by_label("Stop texts", exact=True)).to_have_value("")


def test_chats_are_renamed_exported_deleted_and_had_back(desktop: ChatPage, tmp_path: Path) -> None:
    page = desktop.page
    answered(desktop, "A first question")
    page.get_by_role("button", name="More for").click()
    desktop.press("Rename")
    page.get_by_role("textbox", name="Name of the chat").fill("Ferns")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Ferns", exact=True)).to_be_visible()
    page.get_by_role("button", name="More for Ferns").click()
    with page.expect_download() as download:
        desktop.press("Export")
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    assert file.name == "Ferns.json"
    desktop.press("Delete")
    items = page.get_by_role("list", name="Saved chats").get_by_role("listitem")
    expect(items.filter(has_text="Ferns")).to_have_count(0)
    desktop.press("Undo")
    expect(items.filter(has_text="Ferns")).to_have_count(1)
    with page.expect_file_chooser() as chooser:
        desktop.press("Import")
    chooser.value.set_files(file)
    expect(items.filter(has_text="Ferns")).to_have_count(2)


def test_a_chat_deleted_in_the_drawer_of_a_phone_comes_back(phone: ChatPage) -> None:
    page = phone.page
    answered(phone, "Keep me")
    phone.press("Saved chats")
    items = page.get_by_role("dialog").get_by_role("listitem").filter(has_text="Keep me")
    page.get_by_role("button", name="More for Keep me").tap()
    phone.press("Delete")
    expect(items).to_have_count(0)
    expect(page.get_by_role("heading", name="Chats")).to_be_focused()
    phone.press("Undo")
    expect(items).to_have_count(1)
    closed(page)
    expect(phone.message(0)).to_contain_text("Keep me")


def test_with_less_motion_wanted_nothing_moves(chromium: Browser, url: str) -> None:
    with opened(chromium, url, **PHONE, reduced_motion="reduce") as chat:
        chat.press("Settings")
        assert chat.page.evaluate("document.getAnimations().length") == 0


def test_the_theme_of_the_settings_outranks_the_device(chromium: Browser, url: str) -> None:
    with opened(chromium, url, **DESKTOP, color_scheme="light") as chat:
        page = chat.page
        chat.settings("Page")
        page.get_by_role("radio", name="Dark").check(force=True)
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 26)"
        assert page.locator("meta[name=theme-color]").first.get_attribute("content") == "#16181a"
        page.get_by_role("radio", name="Auto").first.check(force=True)
        page.emulate_media(color_scheme="dark")
        # The page is told with the next frame.
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 26)"


def test_plain_http_in_a_network_works_and_says_what_is_lost(chromium: Browser, url: str) -> None:
    """A browser withholds secure contexts' interfaces there. ``chromium`` has the driver."""
    with (
        launched("--host-resolver-rules=MAP phone.lan 127.0.0.1") as browser,
        opened(browser, url.replace("127.0.0.1", "phone.lan"), **PHONE) as chat,
    ):
        assert not chat.page.evaluate("isSecureContext")
        expect(chat.page.get_by_text("anyone on the way reads along")).to_be_visible()
        answered(chat, "Hello")
        chat.press("Copy reply")
        expect(chat.page.get_by_role("button", name="Copied")).to_be_visible()
        chat.press("What the server sees")
        expect(chat.page.get_by_text("WITHOUT TLS")).to_be_visible()
