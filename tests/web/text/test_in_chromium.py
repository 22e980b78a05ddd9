"""Tokenizer and chat template in a real browser, whose Unicode tables are its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page
from tokenizers import Tokenizer

from tests.web.text.hard_texts import hard_texts
from tests.web.text.page import text_page
from tests.web.text.template_zoo import QWEN25
from tests.web.text.tokenizer_zoo import zoo

MESSAGES = [{"role": "user", "content": "Grüße"}]
ENDLESS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"


@pytest.fixture(scope="module")
def page(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with text_page(chromium, tmp_path_factory.mktemp("text")) as opened:
        yield opened


@pytest.mark.parametrize("name", ["embedded", "cased", "qwen2, added tokens", "gemma"])
def test_hard_texts_become_the_same_ids_in_chromium(page: Page, name: str) -> None:
    texts = hard_texts(2000, seed=11)
    encoded = page.evaluate("([file, texts]) => window.encode(file, texts)", [zoo()[name], texts])
    expected = Tokenizer.from_str(zoo()[name]).encode_batch_fast(texts, add_special_tokens=False)
    assert encoded == [encoding.ids for encoding in expected]


def test_a_template_renders_in_its_worker_under_the_policy(page: Page) -> None:
    shown = rendered(page, QWEN25, seconds=10)
    assert shown == {"text": "<|im_start|>user\nGrüße<|im_end|>\n<|im_start|>assistant\n"}


def test_an_endless_template_is_killed_and_the_page_goes_on(page: Page) -> None:
    assert rendered(page, ENDLESS, seconds=0.5) == {"refused": "template_too_costly"}
    assert rendered(page, "{{ bos_token }}", seconds=10) == {"text": "<s>"}


def rendered(page: Page, source: str, *, seconds: float) -> dict[str, str]:
    script = "([source, messages, seconds]) => window.render(source, messages, seconds)"
    answer: dict[str, str] = page.evaluate(script, [source, MESSAGES, seconds])
    return answer
