"""A conversation tinted by what its replies looked at; with an engine that needs no model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.exhaustive import EXHAUSTIVE
from tests.web.browsing import DESKTOP, PHONE
from tests.web.chat_page import ChatPage
from tests.web.fake_page import answered, opened
from tests.web.page.states import AXE, RULES, SMALL, WIDER
from tests.web.page.test_attention import switched_on
from tests.web.page.test_speed import main_thread_tasks
from tests.web.page.test_touch_sizes import _BESIDE

SWITCH = "Tint by what was looked at"
FETCH = "Fetch every head of this token"
_CATEGORIES = ["toplevel", "devtools.timeline"]
_HIGHLIGHTS = """() => Object.fromEntries(
  [...CSS.highlights].map(([name, ranges]) => [name, [...ranges].map(String).join('|')]))"""
LONGEST_FRAME_MS = 32.0
SLOWER = 4


@pytest.fixture(scope="module")
def tinted(chromium: Browser, url: str) -> Iterator[ChatPage]:
    """A chat of two replies on a desktop, tinted, for all tests that leave it as it is."""
    with opened(chromium, url, **DESKTOP, accept_downloads=True) as chat:
        _begin(chat)
        yield chat


def _begin(chat: ChatPage) -> None:
    expect(chat.page.locator("#status")).to_contain_text("recover")
    switched_on(chat)
    answered(chat, "What is split inference? Tell me of the tokenizer, please.")
    answered(chat, "And what of the sampler?", replies=2)
    chat.press(SWITCH)
    expect(panel(chat.page)).to_be_visible()
    chat.page.wait_for_function("() => CSS.highlights.has('dim-1')")


def panel(page: Page) -> Locator:
    return page.get_by_role("region", name="What replies looked at")


def tap(chat: ChatPage, text: str, reply: int) -> None:
    """The first word of a text of a reply."""
    words = chat.reply(reply).get_by_text(text).first
    words.scroll_into_view_if_needed()
    box = words.bounding_box()
    assert box is not None
    place = (box["x"] + 12, box["y"] + 12)
    if chat.touch:
        chat.page.touchscreen.tap(*place)
    else:
        chat.page.mouse.click(*place)


def highlights(page: Page) -> dict[str, str]:
    found: dict[str, str] = page.evaluate(_HIGHLIGHTS)
    return found


def test_what_has_faded_is_dim_and_said_and_the_current_turn_is_bright(tinted: ChatPage) -> None:
    page = tinted.page
    dims = highlights(page)
    assert {"dim-1", "dim-2", "dim-3"} <= set(dims)
    assert "Tell me" in dims["dim-1"]
    assert not any("And what of" in text for text in dims.values())
    faded = panel(page).get_by_text("of the chat has faded")
    faded.click()
    expect(panel(page).get_by_text("% bright").first).to_be_visible()
    faded.click()


def test_a_tap_on_a_word_of_a_reply_shows_what_it_looked_at_and_where_that_is(
    tinted: ChatPage,
) -> None:
    page = tinted.page
    tap(tinted, "The server computes", 1)
    head = panel(page).locator(".tint-head")
    expect(head).to_contain_text("To choose “The”, it looked at")
    assert highlights(page)["chosen-1"].strip() == "The"
    assert {"looked-4", "looked-3"} <= set(highlights(page))
    places = panel(page).locator(".places button")
    expect(places.first).to_contain_text("Reply, message 4")
    spoken = panel(page).locator("[aria-live=polite]")
    expect(spoken).to_contain_text("To choose “The”, it looked at: Reply, message 4, “")
    page.locator("#messages").evaluate("(list) => { list.scrollTop = 0; }")
    places.first.click()
    expect(tinted.reply(1)).to_be_in_viewport()
    tinted.press("Choose no token")
    assert not any(name.startswith("looked") for name in highlights(page))
    expect(head).to_contain_text("Tap a word of a reply")


def test_the_strip_leads_to_the_tokens_that_look_far_back(tinted: ChatPage) -> None:
    page = tinted.page
    tinted.press("Token before")
    strip = page.get_by_role("figure", name="Far back, along the latest reply")
    expect(strip.get_by_role("button")).to_have_count(3)
    strip.get_by_role("button").first.click()
    expect(panel(page).locator(".tint-head")).to_contain_text("To choose “Split”")
    tinted.press("Choose no token")


def test_a_row_that_nobody_kept_is_fetched_when_its_price_was_said_and_heads_are_seen_alone(
    tinted: ChatPage,
) -> None:
    page = tinted.page
    tap(tinted, "The server computes", 0)
    expect(panel(page)).to_contain_text("Rows are kept for the latest reply alone")
    expect(panel(page)).to_contain_text("In a session of its own: at most")
    assert "looked-4" not in highlights(page)
    tinted.press(FETCH)
    tinted.press("Layers and heads")
    cells = page.locator(".head-cell")
    expect(cells).to_have_count(24)
    expect(cells.first).to_have_accessible_name(re.compile("^Layer 1, head 1: most on “"))
    cells.first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(cells.nth(7)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    head = panel(page).locator(".tint-head")
    expect(head).to_contain_text("it looked at by layer 2, head 2")
    alone = highlights(page)
    tinted.press("All heads again")
    expect(head).not_to_contain_text("layer 2")
    assert highlights(page) != alone
    tinted.press("Choose no token")


def test_rows_and_brightness_and_pictures_are_exported(tinted: ChatPage, tmp_path: Path) -> None:
    page = tinted.page
    tap(tinted, "The server computes", 1)
    files: dict[str, bytes] = {}
    for kind in ("JSON", "PNG", "SVG"):
        with page.expect_download() as download:
            tinted.press(f"Export as {kind}")
        path = tmp_path / kind
        download.value.save_as(path)
        files[kind] = path.read_bytes()
    numbers = json.loads(files["JSON"])
    assert numbers["format"] == "gatelink.attention"
    assert {token["brightness"] for token in numbers["tokens"]} >= {60_000, 3_000, 32_768}
    assert numbers["rows"][0]["weights"]
    assert numbers["shown"]["shares"]
    assert files["PNG"].startswith(b"\x89PNG")
    picture = files["SVG"].decode()
    assert picture.startswith("<svg")
    assert "&lt;script&gt;" in picture
    assert "<script" not in picture
    tinted.press("Choose no token")


def test_a_chat_with_noise_fetches_no_rows(chromium: Browser, url: str) -> None:
    with opened(chromium, url, **DESKTOP) as chat:
        expect(chat.page.locator("#status")).to_contain_text("recover")
        chat.press("Settings")
        chat.page.get_by_label("Add noise to what this chat sends").check()
        chat.page.keyboard.press("Escape")
        switched_on(chat)
        answered(chat, "One")
        answered(chat, "Two", replies=2)
        chat.press(SWITCH)
        expect(panel(chat.page)).to_contain_text("of the chat has faded")
        tap(chat, "The server computes", 0)
        expect(panel(chat.page)).to_contain_text("A chat with noise fetches none")
        expect(chat.page.get_by_role("button", name=FETCH)).to_have_count(0)


def test_brightness_outlasts_a_reload_and_tokens_that_cannot_be_had_are_said(
    chromium: Browser, url: str
) -> None:
    with opened(chromium, url, **DESKTOP) as chat:
        _begin(chat)
        before = {name: text for name, text in highlights(chat.page).items() if "dim" in name}
        chat.page.reload()
        expect(chat.message(0)).to_contain_text("Tell me of")
        chat.press(SWITCH)
        chat.page.wait_for_function("() => CSS.highlights.has('dim-1')")
        assert highlights(chat.page) == before
        chat.press(SWITCH)
        chat.page.wait_for_function("() => CSS.highlights.size === 0")
        chat.page.goto(f"{url}?engine=no_tokens")
        expect(chat.message(0)).to_contain_text("Tell me of")
        chat.press(SWITCH)
        expect(panel(chat.page)).to_contain_text("This text took too long")


@pytest.mark.parametrize(
    ("size", "scheme"),
    [(PHONE, "light"), (DESKTOP, "dark"), *([(PHONE, "dark")] if EXHAUSTIVE else [])],
)
def test_the_tint_keeps_nobody_out(
    chromium: Browser, url: str, size: dict[str, Any], scheme: Any
) -> None:
    options: dict[str, Any] = {"color_scheme": scheme, "bypass_csp": True}
    found: list[Any] = []
    with opened(chromium, url, **size, **options, reduced_motion="reduce") as chat:
        page = chat.page

        def check(state: str) -> None:
            if not page.evaluate("'axe' in globalThis"):
                page.add_script_tag(url=f"{url}axe.min.js")
            found.extend((state, each) for each in page.evaluate(AXE, RULES))
            if chat.touch:
                found.extend((state, each) for each in page.evaluate(SMALL))
            if wider := page.evaluate(WIDER):
                found.append((state, f"{wider} pixels wider than the screen"))

        _begin(chat)
        check("tinted")
        panel(page).get_by_text("of the chat has faded").click()
        check("what has faded")
        panel(page).get_by_text("of the chat has faded").click()
        tap(chat, "The server computes", 1)
        expect(panel(page).locator(".places")).to_be_visible()
        check("looked at")
        tap(chat, "The server computes", 0)
        check("not kept")
        chat.press(FETCH)
        chat.press("Layers and heads")
        check("heads")
        page.keyboard.press("Escape")
        page.evaluate("() => { document.documentElement.style.fontSize = '200%'; }")
        assert page.evaluate(_BESIDE) == []
        check("large")
    assert found == []


@pytest.mark.slow
def test_no_frame_is_late_while_a_long_chat_is_tinted_and_a_reply_streams(
    chromium: Browser, url: str, tmp_path: Path
) -> None:
    """4,096 tokens, each third of another level, at a quarter of the CPU."""

    def traced(trace: Path) -> float:
        with opened(chromium, f"{url}?engine=long&room=30000", **PHONE) as chat:
            page = chat.page
            expect(page.locator("#status")).to_contain_text("recover")
            switched_on(chat)
            words = " ".join(f"word{number}" for number in range(4096))
            chat.write(words)
            expect(chat.reply(0)).to_contain_text("tokenizer")
            chat.stop()
            chat.write("At length, please")
            expect(chat.reply(1)).to_contain_text("tokenizer")
            chat.press(SWITCH)
            expect(panel(page)).to_be_visible()
            chromium.start_tracing(page=page, path=trace, categories=_CATEGORIES)
            for _ in range(2):
                chat.press(SWITCH)
                page.wait_for_timeout(1500)
            chromium.stop_tracing()
        return max(main_thread_tasks(json.loads(trace.read_text())))

    longest = [traced(tmp_path / "trace.json")]
    while longest[-1] * SLOWER > LONGEST_FRAME_MS and len(longest) < 4:
        longest.append(traced(tmp_path / "trace.json"))
    assert min(longest) * SLOWER <= LONGEST_FRAME_MS
