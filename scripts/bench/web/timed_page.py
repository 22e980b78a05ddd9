"""One page in Chromium whose replies are timed as its main thread receives their tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import httpx
from playwright.sync_api import BrowserContext

from tests.web.browsing import PHONE, launched, profile
from tests.web.chat_page import ChatPage

TOUCH: dict[str, Any] = {**PHONE, "viewport": {"width": 390, "height": 844}}
# When the page's thread is handed each token, what the engine's worker says of it, and the reply at
# its end: asking the page meanwhile would take a part of the processor.
_WATCH = """
globalThis.tokens = [];
globalThis.made = () => new Promise((resolve) => (globalThis.tell = resolve));
globalThis.Worker = class extends Worker {
  constructor(...given) {
    super(...given);
    this.addEventListener('message', ({ data }) => {
      if (data.event?.timing && data.event.token >= 0) {
        tokens.push([performance.now(), data.event.timing]);
      }
      if (data.result?.tokensPerSecond !== undefined) tell(data.result);
    });
  }
};
"""


class TimedReply(NamedTuple):
    """``result`` of the engine; ``arrived``: milliseconds at which each token came; ``timings`` of
    each, in seconds, as the worker tells them.
    """

    result: dict[str, Any]
    arrived: list[float]
    timings: list[dict[str, float]]

    @property
    def between(self) -> list[float]:
        """Milliseconds from each token to the next."""
        return [later - at for at, later in pairwise(self.arrived)]


def unending(url: str) -> dict[int, float]:
    """A bias that keeps replies of the model that is served at ``url`` from ending."""
    manifest = httpx.get(f"{url}/weights/manifest.json", trust_env=False).json()
    return dict.fromkeys(manifest["eos_token_ids"], -100.0)


@contextmanager
def timed_page(
    url: str, settings: dict[str, Any], watch: str = "", *, private: bool = True
) -> Iterator[ChatPage]:
    """A phone's page (390x844) with the model downloaded; ``watch`` is run before its scripts.

    ``private``: in a window whose files are in the memory of another process; else of a profile on
    the disk.
    """
    keep = f"localStorage.setItem('gatelink.settings', {json.dumps(json.dumps(settings))});"
    with _window(private=private) as context:
        chat = ChatPage(context.new_page(), touch=True)
        chat.page.add_init_script(keep + _WATCH + watch)
        chat.page.goto(url)
        chat.download()
        yield chat


@contextmanager
def _window(*, private: bool) -> Iterator[BrowserContext]:
    if private:
        with launched() as browser, browser.new_context(**TOUCH) as context:
            yield context
        return
    with TemporaryDirectory() as folder, profile(Path(folder), **TOUCH) as context:
        yield context


def expect_reply(chat: ChatPage) -> None:
    """The next reply is the one that is timed."""
    chat.page.evaluate("() => { tokens.length = 0; globalThis.reply = made(); }")


def timed_reply(chat: ChatPage) -> TimedReply:
    """The reply that was expected, when it has ended."""
    result: dict[str, Any] = chat.page.evaluate("reply")
    told: list[tuple[float, dict[str, float]]] = chat.page.evaluate("tokens")
    return TimedReply(result, [at for at, _ in told], [timing for _, timing in told])


def asked(chat: ChatPage, prompt: str) -> TimedReply:
    """The reply to the first message of the shown chat."""
    chat.page.get_by_role("textbox", name="Message").fill(prompt)
    expect_reply(chat)
    chat.press("Send")
    reply = timed_reply(chat)
    chat.whole_reply(0)
    return reply
