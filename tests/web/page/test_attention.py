"""The attention of each token, as a person sees it; with an engine that needs no model."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.web.browsing import PHONE
from tests.web.chat_page import ChatPage
from tests.web.fake_page import answered, opened
from tests.web.page.test_speed import LONGEST_TASK_MS, longest_task

QUESTION = "What is split inference?"
HOSTILE = "<img src=x onerror=alert(1)> ?"
BUTTON = "What it looked at"
_CATEGORIES = ["toplevel", "devtools.timeline"]
_THOUSAND = "() => document.querySelectorAll('.tokens span').length >= 1000"


def switched_on(chat: ChatPage) -> None:
    """Have replies of the shown chat bring their attention."""
    chat.press("Settings")
    chat.page.get_by_label("Show what each token looked at").check()
    chat.page.keyboard.press("Escape")


def tokens(page: Page) -> Locator:
    return page.get_by_role("group", name="Prompt and reply")


def levels(page: Page) -> dict[str, int]:
    """How many spans have which level."""
    found: list[str] = page.eval_on_selector_all(
        ".tokens span", "(spans) => spans.map((span) => span.dataset.level)"
    )
    return {level: found.count(level) for level in sorted(set(found))}


def test_it_is_off_until_a_chat_asks_for_it_and_only_the_latest_reply_has_it(
    desktop: ChatPage,
) -> None:
    page = desktop.page
    looks = page.get_by_role("article", name="Reply").get_by_role("button", name=BUTTON)
    answered(desktop, QUESTION)
    expect(looks).to_have_count(0)
    switched_on(desktop)
    answered(desktop, "Again", replies=2)
    answered(desktop, "And again", replies=3)
    expect(looks).to_have_count(1)
    last = page.get_by_role("article", name="Reply").nth(2)
    expect(last.get_by_role("button", name=BUTTON)).to_be_visible()
    desktop.press("New chat")
    answered(desktop, QUESTION)
    expect(looks).to_have_count(0)


def test_the_switch_is_kept_with_the_chat_and_the_attention_is_not(desktop: ChatPage) -> None:
    page = desktop.page
    switched_on(desktop)
    answered(desktop, QUESTION)
    expect(page.get_by_role("button", name=BUTTON)).to_have_count(1)
    page.reload()
    expect(desktop.message(0)).to_contain_text(QUESTION)
    expect(page.get_by_role("button", name=BUTTON)).to_have_count(0)
    desktop.press("Settings")
    expect(page.get_by_label("Show what each token looked at")).to_be_checked()


def test_the_average_comes_first_and_arrow_keys_choose_tokens(desktop: ChatPage) -> None:
    page = desktop.page
    switched_on(desktop)
    answered(desktop, QUESTION)
    desktop.press(BUTTON)
    heading = page.locator("caption")
    expect(heading).to_have_text("On average, the reply looked at")
    tokens(page).focus()
    page.keyboard.press("ArrowRight")
    expect(heading).to_have_text("To choose “Split”, it looked at")
    page.keyboard.press("ArrowRight")
    expect(heading).to_have_text("To choose “inference”, it looked at")
    expect(page.locator(".chosen")).to_have_text(" inference")
    page.keyboard.press("End")
    expect(heading).to_have_text("To choose “documentation](https”, it looked at")
    page.keyboard.press("ArrowLeft")
    expect(heading).to_have_text("To choose “[the”, it looked at")
    page.keyboard.press("Home")
    expect(heading).to_have_text("To choose “Split”, it looked at")
    slider = page.get_by_role("slider", name="Token of the reply")
    assert "“Split”, 1 of " in (slider.get_attribute("aria-valuetext") or "")
    slider.press("ArrowRight")
    expect(heading).to_have_text("To choose “inference”, it looked at")
    told = page.get_by_role("dialog").locator("[aria-live=polite]")
    expect(told).to_contain_text("To choose “inference”, it looked at “")
    expect(page.locator(".shares tr")).to_have_count(5)


def test_a_tap_on_a_token_of_the_reply_colours_what_it_looked_at(
    chromium: Browser, url: str
) -> None:
    with opened(chromium, url, **PHONE) as chat:
        page = chat.page
        switched_on(chat)
        answered(chat, HOSTILE)
        chat.press(BUTTON)
        before = levels(page)
        word = page.locator(".tokens .assistant").filter(has_text="tokenizer").first
        word.tap()
        expect(page.locator("caption")).to_have_text("To choose “tokenizer”, it looked at")
        expect(word).to_have_class("assistant chosen")
        assert levels(page) != before
        assert set(levels(page)) >= {"0", "4"}
        template = page.locator(".tokens :is(.template, .control)")
        assert set(template.evaluate_all("(all) => all.map((e) => e.dataset.level)")) == {"0"}
        page.locator(".tokens .user").first.tap()
        expect(page.locator("caption")).to_have_text("To choose “tokenizer”, it looked at")
        expect(tokens(page)).to_contain_text(HOSTILE)
        assert page.locator(".tokens :not(span, div)").count() == 0


def test_a_server_without_attention_is_said_and_the_chat_goes_on(
    chromium: Browser, url: str
) -> None:
    with opened(chromium, f"{url}?engine=no_attention", **PHONE) as chat:
        page = chat.page
        expect(page.locator("#status")).to_contain_text("recover")
        switched_on(chat)
        answered(chat, QUESTION)
        expect(page.get_by_text("This server does not tell attention").first).to_be_visible()
        expect(page.get_by_role("button", name=BUTTON)).to_have_count(0)
        expect(chat.reply(0)).to_contain_text("Split inference cuts a model")
        chat.press("Settings")
        switch = page.get_by_label("Show what each token looked at")
        expect(switch).to_be_checked()
        expect(page.locator(".problem", has_text="replies come without it")).to_be_visible()


@pytest.mark.slow
def test_no_task_takes_longer_than_a_frame_while_a_reply_is_looked_at(
    chromium: Browser, url: str, tmp_path: Path
) -> None:
    """The view grows to a thousand spans, which change their colours with each token chosen."""

    def traced(trace: Path) -> None:
        with opened(chromium, f"{url}?engine=long", fresh=True, **PHONE) as chat:
            page = chat.page
            expect(page.locator("#status")).to_contain_text("recover")
            switched_on(chat)
            chat.write("At length, please")
            expect(chat.reply(0)).to_contain_text("tokenizer")
            chat.press(BUTTON)
            expect(page.locator("caption")).to_be_visible()
            chromium.start_tracing(page=page, path=trace, categories=_CATEGORIES)
            page.wait_for_function(_THOUSAND, timeout=60_000)
            tokens(page).focus()
            page.keyboard.press("End")
            for _ in range(20):
                page.keyboard.press("ArrowLeft")
                page.wait_for_timeout(30)
            chromium.stop_tracing()

    assert longest_task(traced, tmp_path / "trace.json") <= LONGEST_TASK_MS
