"""The way to a first token over a link of so many megabits a second."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from split_client.api import SplitClient
from split_client.generation.sampling.params import SamplingParams
from tests.server_process import running_server
from tests.web.browsing import PHONE, launched
from tests.web.chat_page import ChatPage
from tests.web.weights.slow_link import SlowLink

_QUESTION = "Name the seven days of the week."
_EVERY = 0.01


@contextmanager
def link_to(model: Path, megabits: float) -> Iterator[SlowLink]:
    """A server of ``model`` behind a link of that rate, from server to device."""
    with running_server(model) as server, SlowLink(server.port) as link:
        ended = threading.Event()
        feeding = threading.Thread(target=_feed, args=(link, megabits * 125_000, ended))
        feeding.start()
        try:
            yield link
        finally:
            ended.set()
            feeding.join()


def client_seconds(url: str) -> float:
    """From nothing to the first token of the Python client."""
    with tempfile.TemporaryDirectory() as cache:
        began = time.perf_counter()
        with SplitClient(url, cache=Path(cache)) as client:
            messages = [{"role": "user", "content": _QUESTION}]
            reply = client.chat(messages, SamplingParams(), max_tokens=1)
            reply.read()
            return time.perf_counter() - began


def page_seconds(url: str) -> float:
    """From the touch of "Download" until a message can be sent."""
    with launched() as browser:
        context = browser.new_context(**PHONE, service_workers="block")
        chat = ChatPage(context.new_page(), touch=True)
        chat.page.set_default_timeout(300_000)
        chat.page.goto(url)
        button = chat.page.get_by_role("button", name="Download")
        button.wait_for()
        began = time.perf_counter()
        button.tap()
        chat.page.locator(".progress-line").wait_for()
        chat.page.locator(".progress-line").wait_for(state="detached")
        chat.ready()
        return time.perf_counter() - began


def _feed(link: SlowLink, rate: float, ended: threading.Event) -> None:
    before = time.perf_counter()
    while not ended.wait(_EVERY):
        now = time.perf_counter()
        link.let(int(rate * (now - before)))
        before = now
