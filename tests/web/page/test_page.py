"""The page itself: for every size, theme, key and reader; with an engine that needs no model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.exhaustive import EXHAUSTIVE
from tests.web.browsing import DESKTOP, PHONE, launched
from tests.web.chat_page import ChatPage
from tests.web.fake_page import answered, at, opened

SIZES = {"phone": PHONE, "desktop": DESKTOP}
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_AXE = """async (values) => {
  const { violations } = await axe.run(document, { runOnly: { type: 'tag', values } });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => [id, html, failureSummary]));
}"""
# Of what can be pressed: a radio is pressed by its label; links in a text are as high as its lines.
_SMALL = """() => [...document.querySelectorAll('button, input, select, textarea, a[href]')]
  .filter((element) => element.checkVisibility() && !element.closest('.text p, .skip'))
  .map((element) => (/radio|checkbox/.test(element.type) ? element.closest('label') : element))
  .map((element) => [element.ariaLabel || element.textContent, element.getBoundingClientRect()])
  .filter(([, box]) => box.width < 43.99 || box.height < 43.99)
  .map(([name, box]) => `${name}: ${box.width} x ${box.height}`)"""
_WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


def _closed(page: Page) -> None:
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def _everywhere(chat: ChatPage, url: str, check: Callable[[str], None]) -> None:
    """Bring the page into each of its states."""
    page = chat.page
    expect(page.get_by_role("list", name="Beginnings")).to_be_visible()
    check("empty")
    answered(chat, "What is split inference?")
    check("chat")
    _around(chat, check)
    chat.press("Edit message")
    check("editing")
    chat.press("Cancel")
    chat.press("Settings")
    check("settings")
    for tab in ("Page", "Storage", "Sampling"):
        chat.tab(tab)
        check(f"settings, {tab}")
    page.get_by_text("More settings").click()
    check("all settings of sampling")
    page.get_by_label("Temperature", exact=True).fill("warm")
    check("settings with a problem")
    _closed(page)
    chat.press("What the server sees")
    expect(page.get_by_role("heading", name="What the server can learn")).to_be_visible()
    check("what the server sees")
    _closed(page)
    _noised(chat, check)
    _full(chat, check)
    _looked_at(chat, check)
    _steered(chat, check)
    if page.get_by_role("button", name="Saved chats").is_visible():
        chat.press("Saved chats")
    page.get_by_role("button", name="More for").first.click()
    check("chats")
    chat.press("Rename")
    check("renaming")
    chat.press("Cancel")
    page.get_by_role("button", name="More for").first.click()
    chat.press("Folder")
    page.get_by_label("Folder; empty: none").fill("Garden")
    page.keyboard.press("Enter")
    expect(page.get_by_role("list", name="Garden")).to_be_visible()
    check("a folder")
    for engine in ("needs_token", "needs_download", "offline", "failed"):
        at(page, url, engine)
        check(engine)
        page.get_by_role("button", name="New chat").first.click()
        check(f"{engine}, new chat")
    at(page, url, "needs_download")
    page.get_by_role("button", name="Download").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    check("downloading")


def _around(chat: ChatPage, check: Callable[[str], None]) -> None:
    page = chat.page
    chat.press("Find in this chat")
    page.get_by_role("searchbox", name="Find in this chat").fill("device")
    expect(page.get_by_role("search")).to_contain_text("1 of 1")
    check("words that are found")
    chat.press("End the search")
    file: FilePayload = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"one"}
    page.locator("main input[type=file]").set_input_files([file])
    expect(page.get_by_role("button", name="Leave out notes.txt")).to_be_visible()
    check("a file that goes along")
    chat.press("Leave out notes.txt")


def _noised(chat: ChatPage, check: Callable[[str], None]) -> None:
    page = chat.page
    chat.press("Settings")
    page.get_by_label("Add noise to what this chat sends").check()
    page.get_by_text("More noise settings").click()
    page.get_by_label("Budget", exact=True).fill("50")
    expect(page.get_by_text("room for 17 more rows")).to_be_visible()
    check("settings with noise")
    page.get_by_label("Clip norm C").fill("much")
    check("settings of noise with a problem")
    page.get_by_label("Clip norm C").fill("99")
    expect(page.get_by_text("The noise ledger of this browser cannot be used.")).to_be_visible()
    check("noise that cannot be had")
    page.get_by_label("Clip norm C").fill("")
    _closed(page)
    chat.press("What the server sees")
    expect(page.get_by_text("room for 17 more rows")).to_be_visible()
    check("what the server sees of noise")
    _closed(page)
    chat.press("Settings")
    page.get_by_label("Add noise to what this chat sends").uncheck()
    check("noise that is off again")
    _closed(page)


def _full(chat: ChatPage, check: Callable[[str], None]) -> None:
    page = chat.page
    meter = page.get_by_role("button", name="Context:")
    meter.click()
    page.get_by_text("Parts").first.click()
    check("the context")
    page.get_by_role("button", name="Leave out Reply").click()
    page.get_by_role("button", name="Pin You").click()
    page.get_by_label("Budget in tokens").fill("100")
    check("the context, some of it left out")
    page.get_by_label("Budget in tokens").fill("some")
    check("the context with a problem")
    _closed(page)
    check("a chat of which some is left out")
    chat.press("Bring back", page.get_by_role("article", name="Reply"))
    chat.write("And then?")
    expect(page.get_by_text("No reply: the context is full.")).to_be_visible()
    expect(page.get_by_text("Counting…")).to_have_count(0)
    check("a full context")
    meter.click()
    page.get_by_label("Budget in tokens").fill("")
    _closed(page)
    chat.press("Reply in the room there is")
    expect(page.get_by_role("button", name="Copy reply")).to_have_count(2)


def _looked_at(chat: ChatPage, check: Callable[[str], None]) -> None:
    page = chat.page
    chat.press("Settings")
    page.get_by_label("Show what each token looked at").check()
    check("settings with attention")
    _closed(page)
    answered(chat, "Once more, please", replies=3)
    chat.press("What it looked at")
    check("what the reply looked at")
    page.get_by_role("radio", name="One token").check(force=True)
    check("what a token looked at")
    _closed(page)


def _steered(chat: ChatPage, check: Callable[[str], None]) -> None:
    page = chat.page
    # Buttons of earlier messages come when they are asked for.
    reply = page.get_by_role("article", name="Reply").last
    chat.press("How likely it was", reply)
    expect(page.get_by_text("Most surprising")).to_be_visible()
    check("how likely a reply was")
    page.locator(".tokens .assistant").nth(3).click()
    expect(page.get_by_role("heading", name="Go on with another one")).to_be_visible()
    check("what else could have come")
    _closed(page)
    chat.press("Do more with this reply", reply)
    expect(page.get_by_role("button", name="Take out this reply")).to_be_visible()
    check("more for a reply")
    chat.press("Change the reply", reply)
    expect(page.get_by_role("textbox", name="Change the reply")).to_be_focused()
    check("changing a reply")
    chat.press("Cancel")
    chat.write("At length, please")
    page.get_by_role("textbox", name="Message").fill("And then?")
    chat.press("Send when the reply ends")
    expect(page.get_by_text("Sent when the reply ends:")).to_be_visible()
    chat.stop()
    expect(page.get_by_role("button", name="Continue")).to_be_visible()
    check("a reply that was stopped")
    page.get_by_role("textbox", name="Message").fill("")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "scheme"), [("phone", "light"), *([("desktop", "dark")] if EXHAUSTIVE else [])]
)
def test_no_state_of_the_page_keeps_anybody_out(
    chromium: Browser, url: str, size: str, scheme: str
) -> None:
    """What axe knows; and on a phone targets of 44 pixels, and nothing wider than the screen."""
    # axe comes as a script of its own, which the policy of the page forbids; in the middle of a
    # movement it would see colours that nobody sees.
    options: dict[str, Any] = {
        **SIZES[size],
        "color_scheme": scheme,
        "bypass_csp": True,
        "reduced_motion": "reduce",
    }
    found: list[tuple[str, Any]] = []
    with opened(chromium, url, **options) as chat:
        page = chat.page

        def check(state: str) -> None:
            if not page.evaluate("'axe' in globalThis"):
                page.add_script_tag(url=f"{url}axe.min.js")
            found.extend((state, each) for each in page.evaluate(_AXE, RULES))
            if chat.touch:
                found.extend((state, each) for each in page.evaluate(_SMALL))
            if wider := page.evaluate(_WIDER):
                found.append((state, f"{wider} pixels wider than the screen"))

        _everywhere(chat, url, check)
    assert found == []


def test_a_chat_needs_no_pointer(desktop: ChatPage) -> None:
    page = desktop.page
    expect(page.locator("#status")).to_contain_text("recover")
    skip = page.get_by_role("link", name="Skip to the message field")
    assert page.evaluate("document.querySelector('a, button, input, textarea').className") == "skip"
    skip.focus()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.type("First line")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("second line")
    page.keyboard.press("Enter")
    expect(desktop.message(0)).to_contain_text("First line\nsecond line")
    page.keyboard.press("Escape")
    expect(page.get_by_text("Stopped by you.")).to_be_visible()
    expect(page.get_by_role("textbox", name="Message")).to_be_focused()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("no such words")
    expect(page.get_by_text("No chat has all these words.")).to_be_visible()


def test_a_dialog_takes_the_focus_keeps_it_and_gives_it_back(phone: ChatPage) -> None:
    page = phone.page
    opener = page.get_by_role("button", name="Settings")
    opener.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Settings")).to_be_focused()
    for _ in range(60):
        page.keyboard.press("Tab")
        assert page.evaluate(
            "() => document.activeElement.closest('dialog, body').matches('dialog')"
            " || document.activeElement === document.body"
        )
    _closed(page)
    expect(opener).to_be_focused()


def test_the_list_follows_a_reply_until_the_reader_scrolls_up(chromium: Browser, url: str) -> None:
    with opened(chromium, f"{url}?engine=long", **DESKTOP) as chat:
        page = chat.page
        expect(page.locator("#status")).to_contain_text("recover")
        chat.write("At length, please")
        rest = "() => { const m = document.querySelector('#messages');"
        rest += " return m.scrollHeight - m.clientHeight - m.scrollTop; }"
        page.wait_for_function("() => document.querySelector('#messages').scrollTop > 600")
        assert page.evaluate(rest) < 2
        page.mouse.move(700, 300)
        page.mouse.wheel(0, -400)
        to_end = page.get_by_role("button", name="To the end")
        expect(to_end).to_be_visible()
        top = page.evaluate("document.querySelector('#messages').scrollTop")
        grown = page.evaluate(rest)
        page.wait_for_function(f"() => ({rest})() > {grown + 200}")
        assert page.evaluate("document.querySelector('#messages').scrollTop") == top
        to_end.click()
        expect(to_end).to_have_count(0)
        page.wait_for_timeout(300)
        assert page.evaluate(rest) < 2
        chat.stop()


def test_nothing_jumps_while_a_reply_is_written(chromium: Browser, url: str) -> None:
    with opened(chromium, url, **PHONE) as chat:
        expect(chat.page.locator("#status")).to_contain_text("recover")
        chat.page.evaluate(
            """() => { globalThis.shift = 0; new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) globalThis.shift += entry.value;
            }).observe({ type: 'layout-shift' }); }"""
        )
        answered(chat, "Hello")
        assert chat.page.evaluate("shift") < 0.05


def test_scripts_in_a_reply_stay_text_and_links_leave_the_page_alone(desktop: ChatPage) -> None:
    answered(desktop, "Hello")
    expect(desktop.reply(0)).to_contain_text("<script>document.title = 'broken'</script>")
    link = desktop.page.get_by_role("link", name="the documentation")
    assert link.get_attribute("rel") == "noopener noreferrer"
    assert link.get_attribute("target") == "_blank"
    assert desktop.page.title() == "Gatelink"


def test_code_and_replies_are_copied_as_they_are(chromium: Browser, url: str) -> None:
    options: dict[str, Any] = {**DESKTOP, "permissions": ["clipboard-read", "clipboard-write"]}
    with opened(chromium, url, **options) as chat:
        answered(chat, "Hello")
        chat.press("Copy code")
        clipboard = "() => navigator.clipboard.readText()"
        assert chat.page.evaluate(clipboard).startswith("for token in decode(")
        chat.press("Copy reply")
        expect(chat.page.get_by_role("button", name="Copied").last).to_be_visible()
        assert chat.page.evaluate(clipboard).startswith("Split inference cuts a model")


def test_a_screen_reader_is_told_sentences_and_not_tokens(desktop: ChatPage) -> None:
    desktop.page.evaluate(
        """() => { globalThis.told = [];
        const live = document.querySelector('p[aria-live=polite]');
        new MutationObserver(() => told.push(live.textContent))
        .observe(live, { subtree: true, childList: true, characterData: true }); }"""
    )
    answered(desktop, "Hello")
    told = desktop.page.evaluate("told")
    assert 1 <= len(told) <= 4
    assert "the documentation" in told[-1]


def test_a_download_is_paused_goes_on_and_is_deleted(chromium: Browser, url: str) -> None:
    with opened(chromium, f"{url}?engine=needs_download", **PHONE) as chat:
        page = chat.page
        chat.press("Download 8.4 MB")
        expect(page.get_by_text("left")).to_be_visible()
        chat.press("Pause")
        expect(page.get_by_text("Here already")).to_be_visible()
        chat.press("Delete")
        chat.press("Download 8.4 MB")
        expect(page.get_by_role("button", name="Pause")).to_be_visible()


def test_a_full_server_is_said_while_the_chat_waits_for_its_place(
    chromium: Browser, url: str
) -> None:
    size = PHONE | {"viewport": {"width": 390, "height": 844}}
    with opened(chromium, f"{url}?engine=full", **size) as chat:
        expect(chat.page.locator("#status")).to_contain_text("recover")
        chat.write("Hello")
        words = chat.page.get_by_text("All places on the server are taken. Waiting for one")
        expect(words).to_be_visible()
        chat.picture("full-server")
        expect(chat.page.get_by_role("button", name="Copy reply")).to_have_count(1)
        expect(words).to_have_count(0)


def test_a_lost_connection_is_said_and_the_reply_goes_on(chromium: Browser, url: str) -> None:
    with opened(chromium, f"{url}?engine=lost", **PHONE) as chat:
        expect(chat.page.locator("#status")).to_contain_text("recover")
        chat.write("Hello")
        expect(chat.page.get_by_text("Connection lost (the network went away)")).to_be_visible()
        expect(chat.page.get_by_text("Connected again; the reply goes on")).to_be_visible()
        expect(chat.page.get_by_role("button", name="Copy reply")).to_have_count(1)


def test_a_reply_that_breaks_off_says_why_and_its_text_stays(chromium: Browser, url: str) -> None:
    with opened(chromium, f"{url}?engine=lost&breaks", **PHONE) as chat:
        expect(chat.page.locator("#status")).to_contain_text("recover")
        chat.write("Hello")
        expect(chat.page.get_by_text("Broke off: the connection was lost")).to_be_visible()
        expect(chat.reply(0)).to_contain_text("Split inference cuts a model")
        expect(chat.page.get_by_role("button", name="Try now")).to_be_visible()


def test_without_a_server_old_chats_are_read_and_the_composer_says_why(
    phone: ChatPage, url: str
) -> None:
    answered(phone, "Remember this")
    at(phone.page, url, "offline")
    expect(phone.message(0)).to_contain_text("Remember this")
    expect(phone.page.locator("#status")).to_contain_text("cannot be reached")
    phone.page.get_by_role("textbox", name="Message").fill("And now?")
    expect(phone.page.get_by_role("button", name="Send", exact=True)).to_be_disabled()


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
    _closed(page)
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
    _closed(page)
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
