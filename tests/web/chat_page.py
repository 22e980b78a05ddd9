"""The chat as a person uses it: by the names of its fields and buttons."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

_ARTEFACTS = Path(__file__).parents[2] / ".artefacts" / "web"
_MILLISECONDS = 30_000


class ChatPage:
    """``touch``: taps in place of clicks, as on a phone."""

    def __init__(self, page: Page, *, touch: bool) -> None:
        self.page = page
        self.touch = touch
        self.errors: list[str] = []
        page.set_default_timeout(_MILLISECONDS)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def press(self, name: str, within: Locator | None = None) -> None:
        """The first button of this name."""
        button = (within or self.page).get_by_role("button", name=name, exact=True).first
        button.tap() if self.touch else button.click()

    def pair(self, link: str, name: str) -> None:
        """Follow a pairing link and give the device a name."""
        self.page.goto(link)
        self.page.get_by_label("Name of this device").fill(name)
        self.press("Pair this device")

    def download(self) -> None:
        """Take the model's ends."""
        button = self.page.get_by_role("button", name="Download")
        button.tap() if self.touch else button.click()
        self.ready()

    def ready(self) -> None:
        """Wait until a message can be sent."""
        field = self.page.get_by_role("textbox", name="Message")
        field.fill("Hello")
        send = self.page.get_by_role("button", name="Send", exact=True)
        expect(send).to_be_enabled(timeout=_MILLISECONDS)
        field.fill("")

    def settings(self, tab: str) -> None:
        """Open one part of the settings."""
        self.press("Settings")
        self.tab(tab)

    def tab(self, name: str) -> None:
        """Go to another part of the open sheet."""
        button = self.page.get_by_role("tab", name=name, exact=True)
        button.tap() if self.touch else button.click()

    def set_number(self, label: str, value: str) -> None:
        """Change a sampling field of the settings."""
        self.settings("Sampling")
        self.page.get_by_label(label, exact=True).fill(value)
        self.page.keyboard.press("Escape")

    def write(self, text: str) -> None:
        """Send a message."""
        self.page.get_by_role("textbox", name="Message").fill(text)
        self.press("Send")

    def stop(self) -> None:
        """End the reply."""
        self.press("Stop the reply")

    def reply(self, number: int) -> Locator:
        """The text of the model's message, counted from 0, of the branch that is shown."""
        return self.page.get_by_role("article", name="Reply").nth(number).locator(".text")

    def whole_reply(self, number: int) -> str:
        """Its text once it is whole, in one line."""
        buttons = self.page.get_by_role("button", name="Copy reply", exact=True)
        expect(buttons).to_have_count(number + 1, timeout=_MILLISECONDS)
        expect(self.page.get_by_role("button", name="Stop the reply")).to_have_count(0)
        # It is drawn a moment after its buttons.
        expect(self.reply(number)).to_have_text(re.compile(r"\S"), use_inner_text=True)
        return " ".join(self.reply(number).inner_text().split())

    def message(self, number: int) -> Locator:
        """A message of the user, counted from 0."""
        return self.page.get_by_role("article", name="You").nth(number)

    def picture(self, name: str) -> None:
        """Keep what is seen, to be looked at after the tests."""
        _ARTEFACTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=_ARTEFACTS / f"{name}.png")
