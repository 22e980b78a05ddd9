"""Formulas and code of a reply on a phone: rendered, coloured, and within the page's policy."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.web.browsing import PHONE
from tests.web.chat_page import ChatPage
from tests.web.fake_page import opened

TALL_PHONE = {**PHONE, "viewport": {"width": 390, "height": 844}}
LESSON = r"""The roots of \(a x^2 + b\,x + c = 0\) are

\[
x_{1,2} = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}
\]

and for $n > 0$ the sum $\sum_{i=1}^{n} i = \frac{n(n+1)}{2}$ costs $5 or more than $10.

$$
\begin{pmatrix} a & b \\ c & d \end{pmatrix}^{-1}
= \frac{1}{ad - bc} \left( \begin{matrix} d & -b \\ -c & a \end{matrix} \right)
$$

1. A step: \( \vec{v} \cdot \hat{n} \le \| v \| \)
   $$e^{i\pi} + 1 = 0$$

```python
def roots(a: float, b: float, c: float) -> tuple[float, float]:  # both of them, in no order at all
    root = (b * b - 4 * a * c) ** 0.5
    return (-b + root) / (2 * a), "second"
```

| name | formula | meaning | where it is used |
| --- | --- | --- | --- |
| mass | $E = mc^2$ | energy of what rests | nearly everywhere in physics |
"""
HOSTILE = r"""\(\href{javascript:alert(1)}{a}\) \(\class{toasts}{b}\) \(\style{position:fixed}{c}\)

$$\includegraphics{https://example.org/x.png}$$

$$\def\a{\a\a}\a$$

$$\text{<img src=x onerror="document.title='broken'">} \kern-9999em \rule{999em}{999em}$$

\(x \raisebox{-30em}{drawn elsewhere}\)
"""

_TO_THE_END = """(box) => new Promise((done) => {
  const go = () => {
    box.scrollLeft = box.scrollWidth;
    if (box.classList.contains('more-right')) requestAnimationFrame(go);
    else done();
  };
  go();
})"""


def shown(chat: ChatPage, *said: str) -> None:
    """Take in a chat, the user's messages and the model's in turn."""
    messages = [
        {"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(said)
    ]
    document = {"format": "gatelink.conversation", "version": 1, "messages": messages}
    file: FilePayload = {
        "name": "chat.json",
        "mimeType": "application/json",
        "buffer": json.dumps(document).encode(),
    }
    chat.press("Saved chats")
    chat.page.locator("input[type=file][accept]").set_input_files([file])
    expect(chat.page.get_by_text("Imported 1 chat")).to_be_visible()


def watched(page: Page, requested: list[str]) -> None:
    page.on("request", lambda request: requested.append(request.url))


def test_formulas_are_mathml_and_code_has_colours(chromium: Browser, url: str) -> None:
    with opened(chromium, url, **TALL_PHONE) as chat:
        requested: list[str] = []
        watched(chat.page, requested)
        shown(chat, "Roots?", LESSON)
        reply = chat.reply(0)
        expect(reply.locator("math")).to_have_count(8)
        expect(reply.locator("math msqrt")).to_have_count(1)
        expect(reply.locator(".formula-box math[display=block]")).to_have_count(3)
        expect(reply.locator("pre .code-keyword", has_text="def")).to_have_count(1)
        colour = "(e) => getComputedStyle(e).color"
        keyword, code = reply.locator(".code-keyword").first, reply.locator("pre code")
        expect(chat.page.locator("link[href$='rendered.css']")).to_have_count(1)
        chat.page.wait_for_function("() => [...document.styleSheets].length > 1")
        assert keyword.evaluate(colour) != code.evaluate(colour)
        expect(reply).to_contain_text("costs $5 or more than $10.")
        box = reply.locator("math[display=block]").first.bounding_box()
        assert box is not None
        assert box["height"] > 30
        chat.picture("formulas-390")
        assert all(address.startswith(url) for address in requested if "://" in address)


def test_without_formulas_nothing_of_them_is_loaded(phone: ChatPage) -> None:
    requested: list[str] = []
    watched(phone.page, requested)
    shown(phone, "Hello", "**Hello** for $5, `code` and\n\n```\nplain\n```")
    expect(phone.reply(0).locator("pre")).to_be_visible()
    assert [each for each in requested if "render" in each] == []


def test_what_reads_markdown_comes_with_the_first_reply(chromium: Browser, url: str) -> None:
    with opened(chromium, url, **TALL_PHONE) as chat:
        requested: list[str] = []
        watched(chat.page, requested)
        chat.page.reload()
        chat.ready()
        assert len(requested) > 2
        assert [each for each in requested if "markdown" in each] == []
        chat.write("Hello")
        expect(chat.reply(0).locator("strong").first).to_be_visible()


def test_where_it_cannot_be_had_a_reply_is_the_text_as_it_was_written(
    chromium: Browser, url: str
) -> None:
    with opened(chromium, url, **TALL_PHONE) as chat:
        chat.page.route("**/markdown-*.js", lambda route: route.abort())
        chat.ready()
        chat.write("Hello")
        expect(chat.reply(0)).to_contain_text("Your **device** holds the ends:")
        chat.errors.clear()


def test_hostile_formulas_stay_text_in_their_own_place(chromium: Browser, url: str) -> None:
    with opened(chromium, url, **TALL_PHONE) as chat:
        requested: list[str] = []
        watched(chat.page, requested)
        shown(chat, "Attack", HOSTILE)
        reply = chat.reply(0)
        expect(reply.locator("math")).to_have_count(2)
        expect(reply.locator("code", has_text="\\href")).to_be_visible()
        assert reply.locator("a, img, .toasts").count() == 0
        assert chat.page.title() != "broken"
        for box in reply.locator(".formula, .formula-box").all():
            assert "paint" in box.evaluate("(e) => getComputedStyle(e).contain")
        assert chat.page.evaluate("document.documentElement.scrollWidth") == 390
        assert not any("example.org" in address for address in requested)


def test_what_is_wider_than_the_page_shows_that_it_scrolls(chromium: Browser, url: str) -> None:
    with opened(chromium, url, **TALL_PHONE) as chat:
        shown(chat, "Roots?", LESSON, "Short?", "```python\nx = 1\n```")
        reply = chat.reply(0)
        for box in (reply.locator(".table-box"), reply.locator("pre")):
            expect(box).to_have_class(re.compile(r"\bmore-right\b"))
            assert "gradient" in box.evaluate("(e) => getComputedStyle(e).maskImage")
            assert box.evaluate("(e) => e.tabIndex") == 0
            # A formula in it may be drawn, and wider, after that.
            box.evaluate(_TO_THE_END)
            expect(box).to_have_class(re.compile(r"\bmore-left\b"))
            expect(box).not_to_have_class(re.compile(r"\bmore-right\b"))
        short = chat.reply(1).locator("pre")
        expect(short).not_to_have_class(re.compile("more-"))
        assert short.evaluate("(e) => e.tabIndex") == -1
