"""Another token chosen and a reply continued on a person's phone, over a real server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect
from transformers import AutoTokenizer

from split_server.checkpoint.folder import EMBEDDED
from tests import oracle
from tests.server_process import RunningServer
from tests.web.chat_page import ChatPage
from tests.web.whole_chat.on_a_phone import settings_on_a_phone

QUESTION = "What is split inference?"
LONGEST = 12
AT = 4


@pytest.fixture
def chat(chromium: Browser, server: RunningServer) -> Iterator[ChatPage]:
    """The page with its model, whose replies are greedy and short."""
    with settings_on_a_phone(chromium, server.url) as page:
        page.tab("Sampling")
        page.page.get_by_label("Longest reply", exact=True).fill(str(LONGEST))
        page.page.get_by_label("Temperature", exact=True).fill("0")
        page.page.keyboard.press("Escape")
        yield page


def test_a_chosen_token_and_a_continued_reply_are_those_of_generate(chat: ChatPage) -> None:
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED)
    asked = [{"role": "user", "content": QUESTION}]
    prompt = list(
        tokenizer.apply_chat_template(asked, add_generation_prompt=True, return_dict=False)
    )

    def told(ids: list[int]) -> str:
        return " ".join(tokenizer.decode(ids, skip_special_tokens=True).split())

    whole = oracle.greedy(EMBEDDED, prompt, 2 * LONGEST)
    chat.write(QUESTION)
    assert chat.whole_reply(0) == told(whole[:LONGEST])
    chat.press("Continue")
    assert chat.whole_reply(0) == told(whole)
    chat.press("How likely it was")
    chat.page.locator(".tokens .assistant").nth(AT).tap()
    others = chat.page.locator(".alternatives button")
    expect(others).to_have_count(20)
    chat.picture("phone-likely")
    other = others.nth(1)
    text = other.locator(".alternative-text").inner_text().strip("“”")
    other.tap()
    expect(chat.page.get_by_role("group", name="Version 2 of 2")).to_be_visible()
    shown = chat.whole_reply(0)
    second = int(oracle.logits(EMBEDDED, [*prompt, *whole[:AT]])[-1].topk(2).indices[1])
    assert tokenizer.decode([second]).strip() == text
    prefix = [*whole[:AT], second]
    rest = oracle.greedy(EMBEDDED, [*prompt, *prefix], LONGEST)
    assert shown == told([*prefix, *rest])
