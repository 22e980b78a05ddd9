"""Replies that go on and another way, as a person does it; with an engine that needs no model."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Locator, Page, expect

from tests.web.browsing import DESKTOP, PHONE
from tests.web.chat_page import ChatPage
from tests.web.fake_page import answered, opened

QUESTION = "What is split inference?"
LIKELY = "How likely it was"
WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


def tokens(page: Page) -> Locator:
    return page.get_by_role("group", name="The reply. The arrow keys choose a token.")


def stopped(chat: ChatPage, text: str = QUESTION) -> None:
    """A reply of which the first words are there."""
    chat.write(text)
    expect(chat.page.get_by_role("article", name="Reply").last).to_contain_text("cuts a model")
    chat.stop()
    expect(chat.page.get_by_text("Stopped by you.")).to_be_visible()


def test_a_token_is_chosen_by_keys_and_another_one_begins_a_branch(desktop: ChatPage) -> None:
    page = desktop.page
    answered(desktop, QUESTION)
    desktop.press(LIKELY)
    expect(page.get_by_role("heading", name="Most surprising")).to_be_visible()
    expect(page.locator(".tokens .assistant").last).to_have_text(re.compile("docs"))
    tokens(page).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tokens .chosen")).to_have_text(" inference")
    told = page.get_by_role("dialog").locator("[aria-live=polite]")
    expect(told).to_contain_text(re.compile(r"“inference” [\d.]+%\. Likeliest: “"))
    said = page.locator(".alternatives [aria-current=true]")
    expect(said).to_contain_text("“inference”")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(said).to_contain_text("“inference”")
    hostile = page.get_by_role("button", name="<b>never</b>")
    hostile.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("group", name="Version 2 of 2")).to_be_visible()
    expect(desktop.reply(0)).to_contain_text("Split <b>never</b> cuts a model")
    desktop.press("Version before")
    expect(desktop.reply(0)).to_contain_text("Split inference cuts a model")
    # The reply of each branch has its own tokens.
    desktop.press("Next version")
    desktop.press(LIKELY)
    expect(tokens(page)).to_contain_text("Split <b>never</b> cuts")


def test_what_cannot_go_on_says_why_and_the_reply_stays(desktop: ChatPage) -> None:
    page = desktop.page
    answered(desktop, QUESTION)
    desktop.press(LIKELY)
    page.locator(".tokens .assistant").nth(2).click()
    page.locator(".alternatives button").filter(has_text="im_end").click()
    expect(page.get_by_text("No reply goes on from there.")).to_be_visible()
    expect(desktop.reply(0)).to_contain_text("Split inference cuts a model")
    expect(page.get_by_role("group", name="Version")).to_have_count(0)


def test_tokens_that_are_gone_after_a_reload_are_not_offered(desktop: ChatPage) -> None:
    page = desktop.page
    answered(desktop, QUESTION)
    expect(page.get_by_role("button", name=LIKELY)).to_be_visible()
    page.reload()
    expect(desktop.reply(0)).to_contain_text("Split inference cuts a model")
    expect(page.get_by_role("button", name=LIKELY)).to_have_count(0)


def test_a_reply_that_was_stopped_goes_on_in_its_place_also_after_a_reload(
    desktop: ChatPage,
) -> None:
    page = desktop.page
    stopped(desktop)
    page.reload()
    desktop.press("Continue")
    expect(page.get_by_role("button", name="Copy reply")).to_have_count(1)
    expect(desktop.reply(0)).to_contain_text("the documentation")
    text = desktop.reply(0).inner_text()
    assert text.count("cuts a model in two places") == 1
    expect(page.get_by_role("group", name="Version")).to_have_count(0)
    expect(page.get_by_role("button", name="Continue")).to_have_count(0)


def test_a_reply_is_changed_and_goes_on_from_there(chromium: Browser, url: str) -> None:
    with opened(chromium, url, **PHONE) as chat:
        page = chat.page
        answered(chat, QUESTION)
        chat.press("Do more with this reply")
        chat.press("Change the reply")
        field = page.get_by_role("textbox", name="Change the reply")
        expect(field).to_be_focused()
        field.fill("Split nothing cuts")
        chat.press("Save")
        expect(chat.reply(0)).to_have_text("Split nothing cuts")
        expect(page.get_by_text("Changed by you.")).to_be_visible()
        expect(page.get_by_role("group", name="Version 2 of 2")).to_be_visible()
        chat.press("Continue")
        expect(chat.reply(0)).to_contain_text("Split nothing cuts a model")
        chat.press("Do more with this reply")
        chat.press("Change the reply")
        expect(field).to_be_focused()
        page.keyboard.press("Escape")
        expect(field).to_have_count(0)


def test_a_message_is_taken_out_and_brought_back(desktop: ChatPage) -> None:
    page = desktop.page
    answered(desktop, "One")
    answered(desktop, "Two", replies=2)
    desktop.message(0).hover()
    desktop.press("Do more with this message")
    desktop.press("Take out this message")
    expect(page.get_by_role("article", name="You")).to_have_count(1)
    expect(page.get_by_role("article", name="Reply")).to_have_count(2)
    desktop.press("Bring back")
    expect(page.get_by_role("article", name="You")).to_have_count(2)


def test_a_message_waits_for_the_reply_and_is_taken_back_after_a_stop(
    chromium: Browser, url: str
) -> None:
    with opened(chromium, f"{url}?engine=long", **DESKTOP) as chat:
        page = chat.page
        field = page.get_by_role("textbox", name="Message")
        expect(page.locator("#status")).to_contain_text("recover")
        chat.write("Hello")
        field.fill("And then?")
        field.press("Enter")
        expect(field).to_have_value("")
        expect(page.locator(".queued")).to_contain_text("Sent when the reply ends: And then?")
        chat.press("Take back the waiting message")
        expect(field).to_have_value("And then?")
        chat.press("Send when the reply ends")
        expect(page.locator(".queued")).to_be_visible()
        chat.stop()
        expect(field).to_have_value("And then?")
        expect(page.locator(".queued")).to_have_count(0)
        chat.press("Continue")
        field.press("Enter")
        expect(page.locator(".queued")).to_be_visible()
        page.reload()
        expect(field).to_have_value("And then?")


def test_a_message_that_waits_is_sent_when_the_reply_has_ended(desktop: ChatPage) -> None:
    expect(desktop.page.locator("#status")).to_contain_text("recover")
    desktop.write("Hello")
    field = desktop.page.get_by_role("textbox", name="Message")
    field.fill("And then?")
    field.press("Enter")
    expect(desktop.message(1)).to_have_text("And then?")
    expect(desktop.page.get_by_role("button", name="Copy reply")).to_have_count(2)


def test_nothing_is_out_of_reach_at_twice_the_size(chromium: Browser, url: str) -> None:
    with opened(chromium, url, **PHONE) as chat:
        page = chat.page
        answered(chat, QUESTION)
        page.evaluate("document.documentElement.style.fontSize = '200%'")
        chat.press(LIKELY)
        page.locator(".tokens .assistant").nth(2).tap()
        last = page.locator(".alternatives button").last
        last.scroll_into_view_if_needed()
        expect(last).to_be_in_viewport()
        assert page.evaluate(WIDER) == 0
        page.keyboard.press("Escape")
        chat.press("Do more with this reply")
        page.get_by_role("button", name="Take out this reply").scroll_into_view_if_needed()
        assert page.evaluate(WIDER) == 0
