"""All states of the page, and what keeps somebody out of one."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import FilePayload, Page, expect

from tests.web.browsing import DESKTOP, PHONE
from tests.web.chat_page import ChatPage
from tests.web.fake_page import answered, at

SIZES = {"phone": PHONE, "desktop": DESKTOP}
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
AXE = """async (values) => {
  const { violations } = await axe.run(document, { runOnly: { type: 'tag', values } });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => [id, html, failureSummary]));
}"""
# Of what can be pressed: a radio is pressed by its label; links in a text are as high as its lines.
SMALL = """() => [...document.querySelectorAll('button, input, select, textarea, a[href]')]
  .filter((element) => element.checkVisibility() && !element.closest('.text p, .skip'))
  .map((element) => (/radio|checkbox/.test(element.type) ? element.closest('label') : element))
  .map((element) => [element.ariaLabel || element.textContent, element.getBoundingClientRect()])
  .filter(([, box]) => box.width < 43.99 || box.height < 43.99)
  .map(([name, box]) => `${name}: ${box.width} x ${box.height}`)"""
WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


def closed(page: Page) -> None:
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def everywhere(chat: ChatPage, url: str, check: Callable[[str], None]) -> None:
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
    closed(page)
    chat.press("What the server sees")
    expect(page.get_by_role("heading", name="What the server can learn")).to_be_visible()
    check("what the server sees")
    closed(page)
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
    closed(page)
    chat.press("What the server sees")
    expect(page.get_by_text("room for 17 more rows")).to_be_visible()
    check("what the server sees of noise")
    closed(page)
    chat.press("Settings")
    page.get_by_label("Add noise to what this chat sends").uncheck()
    check("noise that is off again")
    closed(page)


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
    closed(page)
    check("a chat of which some is left out")
    chat.press("Bring back", page.get_by_role("article", name="Reply"))
    chat.write("And then?")
    expect(page.get_by_text("No reply: the context is full.")).to_be_visible()
    expect(page.get_by_text("Counting…")).to_have_count(0)
    check("a full context")
    meter.click()
    page.get_by_label("Budget in tokens").fill("")
    closed(page)
    chat.press("Reply in the room there is")
    expect(page.get_by_role("button", name="Copy reply")).to_have_count(2)


def _looked_at(chat: ChatPage, check: Callable[[str], None]) -> None:
    page = chat.page
    chat.press("Settings")
    page.get_by_label("Show what each token looked at").check()
    check("settings with attention")
    closed(page)
    answered(chat, "Once more, please", replies=3)
    chat.press("What it looked at")
    check("what the reply looked at")
    page.get_by_role("radio", name="One token").check(force=True)
    check("what a token looked at")
    closed(page)


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
    closed(page)
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
