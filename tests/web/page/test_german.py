"""The page in German: what a person reads or a screen reader says has no English left."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.web.browsing import PHONE, node
from tests.web.chat_page import ChatPage
from tests.web.fake_page import opened

Words = Callable[[str], str]

_DICTIONARY = Path(__file__).parents[3] / "web/src/ui/words/languages/de.js"
# What can be read or heard, but for what people, models and servers have written.
_SAID = """() => {
  const theirs = '.text, .bubble, .tokens, .alternatives, .under, [dir=auto], [aria-atomic], code';
  const seen = [...document.querySelectorAll('body *')].filter((element) =>
    element.checkVisibility() && !element.closest(theirs));
  const names = ['aria-label', 'title', 'placeholder', 'aria-valuetext'];
  const told = seen.flatMap((element) => [
    ...names.map((name) => element.getAttribute(name)),
    ...[...element.childNodes].filter((node) => node instanceof Text).map(({ data }) => data),
  ]);
  return [...new Set(told.filter(Boolean).map((text) => text.replace(/\\s+/g, ' ').trim()))]
    .filter((text) => /\\p{L}{3}/u.test(text));
}"""
_WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
_CUT = """() => [...document.querySelectorAll('button, .choice span, summary, h2, h3, #status')]
  .filter((element) => element.checkVisibility() && !element.matches('.unseen')
    && getComputedStyle(element).display !== 'inline'
    && (element.scrollWidth > element.clientWidth + 1
      || (element.id === 'status' && element.scrollHeight > element.clientHeight + 1)))
  .map((element) => element.textContent)"""
# What is there once a sheet has all that it shows.
_WHOLE = {
    "What it looked at": "dialog .shares",
    "How likely it was": "dialog .tokens",
}
# The same in both languages, or a name.
_SAME = {
    "Adapter", "Auto", "Budget", "Chat", "Chats", "Code", "Delta", "Epsilon", "HTTP", "Logit-Bias",
    "Min p", "Normal", "Sampling", "Sigma", "System-Prompt", "Top k", "Top p", "WebSocket",
    "Attention", "Deutsch", "English", "Gatelink", "banking", "gatelink-embedded-2m", "websocket",
    "opfs", "Apache-2.0", "XXXX-XXXX", "python", "JSON", "PNG", "SVG",
    "Questions about accounts and cards.", "IBAN", "Name",
}  # fmt: skip


@pytest.fixture(scope="module")
def german() -> Words:
    """The dictionary of the page."""
    script = (
        f"import words from {json.dumps(_DICTIONARY.as_uri())}; console.log(JSON.stringify(words))"
    )
    command = [node(), "--input-type=module", "-e", script]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    words: dict[str, str] = json.loads(done.stdout)
    return lambda text: words[text]


def _views(chat: ChatPage, say: Words) -> Iterator[str]:
    """Go through the page by names in one language; each view has a name."""
    page = chat.page
    expect(page.locator("#status")).to_have_text(
        say("Assume that the server can recover what you write.")
    )
    yield "empty"
    for tab in ("Chat", "Sampling", "Page", "Storage"):
        chat.press(say("Settings"))
        chat.tab(say(tab))
        if tab == "Chat":
            page.get_by_label(say("Show what each token looked at")).check()
            page.get_by_label(say("Form of replies")).select_option("choice")
        _unfold(page.get_by_role("tabpanel"))
        yield f"settings-{tab}"
        page.keyboard.press("Escape")
    _write(chat, say)
    yield "reply"
    chat.press(say("Do more with this reply"))
    chat.press(say("Edit message"))
    yield "more"
    page.keyboard.press("Escape")
    for button in ("What it looked at", "How likely it was", "What the server sees", "Saved chats"):
        chat.press(say(button))
        expect(page.locator(_WHOLE.get(button, "dialog"))).to_be_visible()
        yield button
        page.keyboard.press("Escape")
    chat.press(say("Tint by what was looked at"))
    chat.press(say("Next token"))
    expect(page.locator(".tint .places")).to_be_visible()
    yield "tint"
    page.locator("button.meter").tap()
    chat.press(say("Leave out the oldest quarter…"))
    expect(page.locator(".sheet [role=status] + .row, .sheet p[role=status]").first).to_be_visible()
    yield "context"
    page.keyboard.press("Escape")


def _noised(chat: ChatPage, say: Words) -> Iterator[str]:
    """A chat that has noise."""
    page = chat.page
    chat.press(say("Settings"))
    page.get_by_label(say("Add noise to what this chat sends")).check()
    # What noise needs is loaded first.
    expect(page.get_by_text(say("More noise settings"))).to_be_visible()
    _unfold(page.get_by_role("tabpanel"))
    expect(page.get_by_label(say("Clip norm C"))).to_be_visible()
    yield "noise"
    page.keyboard.press("Escape")
    chat.press(say("What the server sees"))
    expect(page.get_by_role("dialog").locator("strong").first).to_be_visible()
    yield "seen-noise"


def _redacted(chat: ChatPage, say: Words) -> Iterator[str]:
    """A chat that has redaction."""
    page = chat.page
    chat.press(say("Settings"))
    page.get_by_label(say("Replace names, numbers and addresses in what this chat sends")).check()
    expect(page.get_by_label(say("Names of your own"))).to_be_visible()
    yield "redaction"
    page.keyboard.press("Escape")
    _write(chat, say)
    page.get_by_role("textbox", name=say("Message")).fill("Anna Schmidt")
    expect(page.get_by_role("group", name=say("What goes out")).locator("strong")).to_have_count(2)
    yield "redaction-line"
    page.get_by_role("group", name=say("What goes out")).get_by_role("button").tap()
    expect(page.get_by_text(say("What it does not do"))).to_be_visible()
    yield "redaction-sheet"
    page.keyboard.press("Escape")
    chat.press(say("What the server sees"))
    expect(page.get_by_role("dialog").locator("strong").first).to_be_visible()
    yield "redaction-seen"


def _unfold(part: Locator) -> None:
    part.evaluate("part => part.querySelectorAll('details').forEach((each) => (each.open = true))")


def _write(chat: ChatPage, say: Words) -> None:
    chat.page.get_by_role("textbox", name=say("Message")).fill("Ferns?")
    chat.press(say("Send"))
    expect(chat.page.get_by_role("button", name=say("Copy reply"))).to_have_count(1)
    expect(chat.page.get_by_role("button", name=say("Stop the reply"))).to_have_count(0)


def _setting_up(chat: ChatPage, _say: Words) -> Iterator[str]:
    expect(chat.page.locator(".card")).to_be_visible()
    yield "setup"


def _english(text: str) -> str:
    return text


@pytest.mark.parametrize(
    ("engine", "views"),
    [
        ("ready", _views),
        ("ready", _noised),
        ("ready", _redacted),
        ("needs_download", _setting_up),
        ("needs_token", _setting_up),
    ],
)
def test_nothing_is_said_in_english_and_no_word_is_cut_off(
    chromium: Browser,
    url: str,
    german: Words,
    engine: str,
    views: Callable[[ChatPage, Words], Iterator[str]],
) -> None:
    address = f"{url}?engine={engine}"
    with opened(chromium, address, **PHONE) as chat:
        english = {text for _ in views(chat, _english) for text in chat.page.evaluate(_SAID)}
    with opened(chromium, address, **PHONE, locale="de-DE") as chat:
        expect(chat.page.locator("html")).to_have_attribute("lang", "de")
        for name in views(chat, german):
            left = english.intersection(chat.page.evaluate(_SAID)) - _SAME
            assert (name, left) == (name, set())
            assert (name, chat.page.evaluate(_WIDER)) == (name, 0)
            assert (name, chat.page.evaluate(_CUT)) == (name, [])
            chat.picture(f"german-{engine}-{name.replace(' ', '-')}")
