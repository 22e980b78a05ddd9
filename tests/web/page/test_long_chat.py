"""A chat of 500 messages: what is not near is not drawn, and all of it is there all the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.web.browsing import PHONE
from tests.web.chat_page import ChatPage
from tests.web.fake_page import answered, opened
from tests.web.long_chats import document, imported

MESSAGES = 500
_DRAWN = "() => document.querySelectorAll('.place .actions').length"
_AT_END = """() => {
  const { scrollTop, scrollHeight, clientHeight } = document.querySelector('.scroll');
  return scrollHeight - clientHeight - scrollTop < 2;
}"""
_FOUND_IN_VIEW = """() => {
  const [range] = CSS.highlights.get('found') ?? [];
  const { top, bottom } = range?.getBoundingClientRect() ?? { top: 0, bottom: 0 };
  return bottom > top && top > 0 && bottom < innerHeight;
}"""


@pytest.fixture(scope="module")
def long_chat(chromium: Browser, url: str) -> Iterator[ChatPage]:
    """One page for the tests of this file."""
    with opened(chromium, f"{url}?room=200000", **PHONE) as chat:
        imported(chat, document(MESSAGES))
        yield chat


def test_what_is_not_near_is_there_and_not_drawn(long_chat: ChatPage) -> None:
    page = long_chat.page
    expect(page.get_by_role("log").get_by_role("article")).to_have_count(MESSAGES)
    page.wait_for_function(_AT_END)
    assert page.evaluate(_DRAWN) < 40
    first = page.locator("#message-m2")
    expect(first).to_contain_text("the tokenizer and the embedding of word1")
    expect(first).not_to_contain_text("**")
    assert page.locator("#message-m2 pre").count() == 0


def test_it_is_drawn_before_it_is_scrolled_to(long_chat: ChatPage) -> None:
    page = long_chat.page
    page.locator(".scroll").evaluate("list => { list.scrollTop = 0; }")
    expect(page.locator("#message-m2 pre")).to_be_in_viewport()
    assert page.evaluate(_DRAWN) < 80
    expect(page.get_by_role("button", name="To the end")).to_be_visible()
    long_chat.press("To the end")
    page.wait_for_function(_AT_END)


def test_what_is_read_stays_where_it_is_when_what_lies_above_is_drawn(long_chat: ChatPage) -> None:
    page = long_chat.page
    moved = page.evaluate("""async () => {
      const list = document.querySelector('.scroll');
      const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 40)));
      list.scrollTop = list.scrollHeight / 2;
      await frame(); await frame();
      const shown = [...document.querySelectorAll('.place')].find(
        (place) => place.getBoundingClientRect().top > list.getBoundingClientRect().top);
      let most = 0;
      for (let step = 0; step < 30; step += 1) {
        const before = shown.getBoundingClientRect().top;
        list.scrollTop -= 20;
        await frame();
        most = Math.max(most, Math.abs(shown.getBoundingClientRect().top - before - 20));
      }
      return most;
    }""")
    assert moved <= 2
    long_chat.press("To the end")
    page.wait_for_function(_AT_END)


def test_a_new_reply_stands_at_the_end_and_its_versions_are_gone_through(
    long_chat: ChatPage,
) -> None:
    page = long_chat.page
    expect(page.locator("#status")).to_contain_text("recover")
    long_chat.write("One more")
    expect(page.get_by_role("button", name="Stop the reply")).to_have_count(0)
    expect(page.locator(f"#message-m{MESSAGES + 2}")).to_contain_text("Split inference cuts")
    page.wait_for_function(_AT_END)
    page.get_by_role("button", name="Another reply").last.tap()
    expect(page.get_by_role("button", name="Version before")).to_be_visible()
    expect(page.get_by_role("button", name="Stop the reply")).to_have_count(0)
    long_chat.press("Version before")
    page.wait_for_function(_AT_END)


def test_of_thousands_of_messages_a_part_stands_in_the_page_and_all_are_reached(
    chromium: Browser, url: str
) -> None:
    many = 16_000
    with opened(chromium, f"{url}?room=2000000", **PHONE) as chat:
        page = chat.page
        imported(chat, document(many))
        articles = page.get_by_role("log").get_by_role("article")
        page.wait_for_function(_AT_END)
        assert 300 <= articles.count() <= 600
        # Further back, and what was read stays where it was.
        page.locator(".scroll").evaluate("list => { list.scrollTop = 0; }")
        first = page.locator(".place").first
        expect(first.locator(".actions")).to_have_count(1)
        name, top = first.get_attribute("id"), first.bounding_box()
        page.get_by_role("button", name="Show earlier messages (15,600)").tap()
        expect(page.get_by_role("button", name="Show earlier messages (15,300)")).to_be_attached()
        now = page.locator(f"#{name}").bounding_box()
        assert top is not None
        assert now is not None
        assert abs(now["y"] - top["y"]) < 3
        assert articles.count() <= 600
        # What is sought is found wherever it is.
        chat.press("Find in this chat")
        page.get_by_role("searchbox").fill("what happens to word40?")
        expect(page.locator("#message-m41")).to_be_in_viewport()
        assert articles.count() <= 600
        expect(page.get_by_role("button", name="Show later messages")).to_be_attached()
        chat.press("End the search")
        chat.press("To the end")
        page.wait_for_function(_AT_END)
        expect(page.locator(f"#message-m{many}")).to_be_in_viewport()
        # What stands in its context is listed in parts.
        page.get_by_role("button", name="Context:").tap()
        assert page.get_by_role("dialog").get_by_role("listitem").count() <= 60
        page.keyboard.press("Escape")
        chat.write("One more")
        expect(page.get_by_role("button", name="Stop the reply")).to_have_count(0)
        expect(page.locator(f"#message-m{many + 2}")).to_be_in_viewport()
        assert articles.count() <= 602


def test_a_long_message_is_folded_until_all_of_it_is_asked_for(phone: ChatPage) -> None:
    page = phone.page
    text = "\n".join(f"line {number}" for number in range(60))
    answered(phone, text)
    bubble, more = page.locator(".bubble"), page.get_by_role("button", name="Show all")
    assert bubble.evaluate("it => it.clientHeight < it.scrollHeight / 2")
    more.tap()
    expect(page.get_by_role("button", name="Show less")).to_have_attribute("aria-expanded", "true")
    assert bubble.evaluate("it => it.clientHeight + 1 >= it.scrollHeight")
    page.get_by_role("button", name="Show less").tap()
    assert bubble.evaluate("it => it.clientHeight < it.scrollHeight / 2")


def test_what_stands_at_the_end_of_a_very_long_message_is_found_and_gone_to(
    phone: ChatPage,
) -> None:
    page = phone.page
    text = "\n".join(f"line {number} of a file" for number in range(3000))
    said = [{"role": "user", "content": text}]
    imported(phone, {"format": "gatelink.conversation", "version": 1, "messages": said})
    bubble = page.locator(".bubble")
    assert bubble.evaluate("it => it.textContent") == text
    assert bubble.locator(".text-part").count() > 5
    page.get_by_role("button", name="Find in this chat").tap()
    page.get_by_role("searchbox").fill("line 2990 of")
    page.get_by_text("1 of 1").wait_for()
    page.wait_for_function(_FOUND_IN_VIEW)


def test_buttons_of_earlier_messages_come_when_a_finger_rests_on_them(phone: ChatPage) -> None:
    page = phone.page
    answered(phone, "First")
    answered(phone, "Second", replies=2)
    early, late = page.locator("#message-m1 .actions"), page.locator("#message-m3 .actions")
    copied = early.get_by_role("button", name="Copy message")
    hidden = "it => getComputedStyle(it).opacity === '0'"
    assert copied.evaluate(hidden)
    assert not late.get_by_role("button", name="Copy message").evaluate(hidden)
    bubble = page.locator("#message-m1 .bubble")
    finger = {"pointerType": "touch", "clientX": 50, "clientY": 100}
    bubble.dispatch_event("pointerdown", finger)
    expect(page.locator("#message-m1")).to_have_class("place open")
    bubble.dispatch_event("pointerup", finger)
    assert not copied.evaluate(hidden)
    copied.tap()
    expect(early.get_by_role("button", name="Copied")).to_be_visible()


def test_buttons_of_earlier_messages_come_with_the_focus(desktop: ChatPage) -> None:
    page = desktop.page
    answered(desktop, "First")
    answered(desktop, "Second", replies=2)
    copied = page.locator("#message-m1 .actions").get_by_role("button", name="Copy message")
    page.mouse.move(0, 0)
    assert copied.evaluate("it => getComputedStyle(it).opacity") == "0"
    copied.focus()
    assert copied.evaluate("it => getComputedStyle(it).opacity") == "1"


def test_another_chat_is_drawn_anew(phone: ChatPage) -> None:
    page = phone.page
    text = "\n".join(f"line {number}" for number in range(60))
    many = {"format": "gatelink.conversations", "version": 1}
    said = [{"role": "user", "content": text}]
    chat = {"format": "gatelink.conversation", "version": 1, "messages": said}
    imported(phone, {**many, "chats": [chat, document(100)]})
    page.get_by_role("button", name="Show all").tap()
    expect(page.get_by_role("button", name="Show less")).to_be_visible()
    phone.press("Saved chats")
    page.locator(".chats-item .open").last.tap()
    expect(page.locator("#message-m100")).to_be_in_viewport()
    assert page.evaluate(_DRAWN) < 40
    page.locator(".scroll").evaluate("list => { list.scrollTop = 0; }")
    expect(page.locator("#message-m2 pre")).to_be_visible()
    phone.press("Saved chats")
    page.locator(".chats-item .open").first.tap()
    expect(page.get_by_role("button", name="Show all")).to_be_visible()
