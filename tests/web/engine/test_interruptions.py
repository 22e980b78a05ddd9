"""Sleep, cuts and restarts in the middle of a reply: the same text, no token twice, or a reason."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from transformers import AutoTokenizer

from split_server.checkpoint.folder import EMBEDDED
from tests import oracle
from tests.end_to_end.server_processes import ServerProcess, server_process
from tests.exhaustive import EXHAUSTIVE
from tests.proxies import CuttingProxy
from tests.server_process import RunningServer
from tests.split_relay.net import free_port
from tests.web.engine.page import EnginePage, opened

MESSAGES = [
    {"role": "user", "content": "Explain what split inference is, and what the relay does."}
]
COUNT = 120
TRANSPORTS = ["websocket", "http"]
_STOP = """async () => {
  const begun = performance.now();
  stopReply('reply');
  await finished('reply');
  return performance.now() - begun;
}"""


@pytest.fixture(scope="module")
def expected() -> list[int]:
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED)
    prompt = tokenizer.apply_chat_template(MESSAGES, add_generation_prompt=True, return_dict=False)
    return oracle.greedy(EMBEDDED, list(prompt), COUNT)


@pytest.fixture(scope="module")
def mortal(server: RunningServer) -> Iterator[ServerProcess]:
    """A server of its own that tests may kill; the last one leaves it dead."""
    with server_process(EMBEDDED, free_port(), "--allow-origin", server.url) as process:
        yield process


def begun(page: EnginePage, tokens: int) -> None:
    """A long reply of which some tokens are there."""
    page.begin("reply", MESSAGES, maxTokens=COUNT)
    page.page.wait_for_function("(n) => tokensOf('reply').length >= n", arg=tokens)


@pytest.mark.parametrize("transport", TRANSPORTS if EXHAUSTIVE else ["http"])
def test_a_reply_goes_on_after_its_connection_was_cut_three_times(
    chromium: Browser, server: RunningServer, expected: list[int], transport: str
) -> None:
    with CuttingProxy(server.port) as way, opened(chromium, server, way.url) as page:
        page.ready(way.url, transport=transport)
        begun(page, 3)
        for tokens in (6, 9, 12):
            way.cut_after(300)
            page.page.wait_for_function("(n) => tokensOf('reply').length >= n", arg=tokens)
        assert page.finished("reply")["ids"] == expected
        assert way.cuts >= 1


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS if EXHAUSTIVE else ["websocket"])
def test_a_reply_goes_on_after_a_sleep_that_left_its_connections_dead(
    chromium: Browser, server: RunningServer, expected: list[int], transport: str
) -> None:
    with CuttingProxy(server.port) as way, opened(chromium, server, way.url) as page:
        page.ready(way.url, transport=transport)
        begun(page, 3)
        way.freeze()
        page.page.evaluate("engine.wake()")
        assert page.finished("reply")["ids"] == expected


def test_a_reply_goes_on_after_the_server_was_killed_and_started_again(
    chromium: Browser, server: RunningServer, mortal: ServerProcess, expected: list[int]
) -> None:
    with opened(chromium, server) as page:
        page.ready(mortal.url)
        begun(page, 5)
        mortal.kill()
        mortal.start()
        mortal.wait_until_it_listens()
        page.page.evaluate("engine.wake()")
        answer = page.finished("reply")
        assert answer["ids"] == expected
        assert page.page.evaluate("notices.length") > 0


def test_a_reply_that_waits_for_a_lost_server_stops_when_it_is_told_to(
    chromium: Browser, server: RunningServer, mortal: ServerProcess, expected: list[int]
) -> None:
    with opened(chromium, server) as page:
        page.ready(mortal.url)
        begun(page, 5)
        mortal.kill()
        milliseconds = page.page.evaluate(_STOP)
        answer = page.finished("reply")
        assert answer["reason"] == "cancelled"
        assert milliseconds < 5000, "at once, but for a machine that is busy"
        assert answer["ids"] == expected[: len(answer["ids"])]
