"""The settings as tabs, own presets, the size of text and the language of the page."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.web.browsing import DESKTOP, PHONE
from tests.web.chat_page import ChatPage
from tests.web.fake_page import answered, opened


def test_arrow_keys_go_through_the_tabs(desktop: ChatPage) -> None:
    page = desktop.page
    desktop.press("Settings")
    tabs = page.get_by_role("tab")
    expect(tabs).to_have_text(["Chat", "Sampling", "Page", "Storage"])
    tabs.first.focus()
    for key, name in (("ArrowRight", "Sampling"), ("End", "Storage"), ("ArrowRight", "Chat")):
        page.keyboard.press(key)
        expect(page.get_by_role("tab", name=name)).to_be_focused()
        expect(page.get_by_role("tab", selected=True)).to_have_text(name)
        expect(page.get_by_role("tabpanel", name=name)).to_be_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.sheet .body') !== null")


def test_a_preset_is_kept_used_named_anew_and_deleted(phone: ChatPage) -> None:
    page = phone.page
    phone.press("Settings")
    prompt = page.get_by_label("System prompt", exact=True)
    chosen = page.get_by_label("Preset of the system prompt")
    prompt.fill("Talk like a sailor.")
    prompt.blur()
    phone.press("Save as a preset")
    name = page.get_by_label("Name of the preset")
    name.fill("two words")
    phone.press("Save")
    expect(page.get_by_role("alert").filter(has_text="1 to 40 of a-z")).to_be_visible()
    name.fill("Sailor")
    phone.press("Save")
    expect(chosen).to_have_value("sailor")
    chosen.select_option("brief")
    expect(page.get_by_role("button", name="Delete the preset")).to_have_count(0)
    page.reload()
    phone.press("Settings")
    chosen.select_option("sailor")
    expect(prompt).to_have_value("Talk like a sailor.")
    phone.press("Rename the preset")
    name.fill("pirate")
    page.keyboard.press("Enter")
    expect(chosen).to_have_value("pirate")
    phone.press("Delete the preset")
    expect(chosen.locator("option[value=pirate]")).to_have_count(0)
    phone.press("Undo")
    expect(chosen).to_have_value("pirate")


def test_a_larger_text_is_larger_also_after_a_reload(phone: ChatPage) -> None:
    page = phone.page
    size = "parseFloat(getComputedStyle(document.documentElement).fontSize)"
    phone.settings("Page")
    page.locator("label").filter(has_text="Huge").tap()
    assert page.evaluate(size) > 22
    page.reload()
    page.wait_for_selector("#composer")
    assert page.evaluate(size) > 22


def test_the_page_speaks_the_language_of_the_browser_or_the_one_that_is_chosen(
    chromium: Browser, url: str
) -> None:
    with opened(chromium, url, **PHONE, locale="de-DE") as chat:
        page = chat.page
        expect(page.locator("html")).to_have_attribute("lang", "de")
        chat.press("Einstellungen")
        expect(page.get_by_role("heading", name="Dieser Chat")).to_be_visible()
        chat.tab("Seite")
        page.locator("label").filter(has_text="English").tap()
        expect(page.get_by_role("heading", name="This page")).to_be_visible()
        expect(page.locator("html")).to_have_attribute("lang", "en")
        page.reload()
        expect(page.get_by_role("button", name="Settings")).to_be_visible()


def test_a_beginning_fills_the_field_and_is_not_sent(desktop: ChatPage) -> None:
    page = desktop.page
    page.get_by_role("list", name="Beginnings").get_by_role("button").first.click()
    field = page.get_by_role("textbox", name="Message")
    expect(field).to_be_focused()
    page.keyboard.type("tides")
    expect(field).to_have_value("Explain in simple words: tides")
    expect(page.get_by_role("article")).to_have_count(0)


def test_recent_chats_are_gone_on_with_from_an_empty_one(chromium: Browser, url: str) -> None:
    with opened(chromium, url, **DESKTOP) as chat:
        page = chat.page
        answered(chat, "Where is the station?")
        chat.press("New chat")
        recent = page.get_by_role("region", name="Go on with")
        recent.get_by_role("button", name="Where is the station?").click()
        expect(chat.message(0)).to_contain_text("Where is the station?")
