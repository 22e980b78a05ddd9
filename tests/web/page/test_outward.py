"""The device around the page: voices, notices, what is shared, text files."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser, FilePayload, expect

from tests.web.browsing import PHONE
from tests.web.chat_page import ChatPage
from tests.web.fake_page import answered, opened

# Voices, notices and the device's sheet for sharing, which a browser without a screen has none of.
_DEVICE = """
globalThis.said = []; globalThis.told = []; globalThis.shared = [];
const voice = (name, lang, localService) => ({ name, lang, localService });
globalThis.voices = [voice('cloud', 'en-US', false), voice('own', 'en-GB', true)];
Object.defineProperty(globalThis, 'speechSynthesis', { value: {
  getVoices: () => voices, addEventListener() {}, cancel() { said.push('cancel'); },
  speak({ voice, text }) { said.push([voice.name, text]); },
} });
globalThis.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
globalThis.Notification = class {
  static permission = 'default';
  static asked = 0;
  static async requestPermission() {
    Notification.asked += 1;
    return (Notification.permission = globalThis.allows ?? 'granted');
  }
  constructor(title, { body }) { told.push([title, body]); }
};
navigator.share = async (what) => void shared.push(what);
let visibility = 'visible';
Object.defineProperty(document, 'visibilityState', { get: () => visibility });
globalThis.seen = (state) => (visibility = state);
"""


def _phone(browser: Browser, url: str, then: Any) -> None:
    context = browser.new_context(**PHONE)
    try:
        page = context.new_page()
        page.add_init_script(_DEVICE)
        chat = ChatPage(page, touch=True)
        page.goto(url)
        page.wait_for_selector("#composer")
        then(chat)
        assert chat.errors == []
    finally:
        context.close()


def test_a_reply_is_read_aloud_by_a_voice_of_the_device_and_never_by_another(
    chromium: Browser, url: str
) -> None:
    def then(chat: ChatPage) -> None:
        page = chat.page
        answered(chat, "Hello")
        chat.press("Read aloud")
        expect(page.get_by_role("button", name="Stop reading")).to_be_visible()
        said = page.evaluate("said.filter((each) => each !== 'cancel')")
        assert {voice for voice, _ in said} == {"own"}
        text = "".join(piece for _, piece in said)
        assert "Your device holds the ends" in text
        assert "**" not in text
        chat.press("Stop reading")
        expect(page.get_by_role("button", name="Read aloud")).to_be_visible()
        assert page.evaluate("said.at(-1)") == "cancel"
        page.evaluate("() => { voices = voices.slice(0, 1); said.length = 0; }")
        chat.press("Read aloud")
        expect(page.get_by_text("This device has no voice of its own")).to_be_visible()
        assert page.evaluate("said.filter((each) => each !== 'cancel')") == []
        chat.press("Share")
        assert page.evaluate("shared[0].text").startswith("Split inference cuts")

    _phone(chromium, url, then)


def test_a_reply_that_ends_unseen_is_told_of_without_its_text(chromium: Browser, url: str) -> None:
    def then(chat: ChatPage) -> None:
        page = chat.page
        chat.settings("Page")
        assert page.evaluate("Notification.asked") == 0
        switch = page.get_by_label("Tell me when a reply is ready")
        page.evaluate("() => { globalThis.allows = 'denied'; }")
        switch.tap()
        expect(page.get_by_text("The browser does not allow it")).to_be_visible()
        expect(switch).not_to_be_checked()
        page.evaluate("() => { globalThis.allows = 'granted'; }")
        switch.tap()
        expect(switch).to_be_checked()
        page.keyboard.press("Escape")
        answered(chat, "Seen")
        page.evaluate("seen('hidden')")
        chat.write("Unseen")
        page.wait_for_function("() => told.length === 1")
        assert page.evaluate("told") == [["Gatelink", "A reply is ready"]]

    _phone(chromium, url, then)


def _file(name: str, content: bytes) -> FilePayload:
    return {"name": name, "mimeType": "text/plain", "buffer": content}


def test_a_text_file_goes_with_the_message_and_is_seen_before(phone: ChatPage) -> None:
    page = phone.page
    expect(page.locator("#status")).to_contain_text("recover")
    picker = page.locator("main input[type=file]")
    picker.set_input_files([_file("a.txt", b"one"), _file("b.md", b"two")])
    waiting = page.get_by_role("list", name="Files that go with this message")
    expect(waiting.get_by_role("listitem")).to_have_count(2)
    phone.press("Leave out b.md")
    expect(waiting.get_by_role("listitem")).to_have_count(1)
    picker.set_input_files([_file("c.bin", b"\xff\xfe\x00")])
    expect(page.get_by_text("C.bin cannot go along: it is not text in UTF-8")).to_be_visible()
    picker.set_input_files([_file(f"{n}.txt", b"x") for n in range(8)])
    expect(page.get_by_text("8 files go with one message")).to_be_visible()
    answered(phone, "Look at this:")
    expect(phone.message(0)).to_contain_text("Look at this:\n\na.txt:\n```\none\n```")
    expect(waiting).to_have_count(0)


def test_an_open_page_without_a_worker_takes_no_shared_text(chromium: Browser, url: str) -> None:
    with opened(chromium, f"{url}?shared", **PHONE) as chat:
        expect(chat.page.get_by_role("textbox", name="Message")).to_have_value("")
