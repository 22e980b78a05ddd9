"""What the server has kept of a chat is not sent again by the browser that goes on with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.patience import until
from tests.server_process import RunningServer
from tests.web.engine.page import EnginePage, opened

SYSTEM = {
    "role": "system",
    "content": "Answer in short sentences. "
    + "The relay copies bytes, and no more than that. " * 12,
}
FIRST = [SYSTEM, {"role": "user", "content": "What is split inference?"}]
SECOND = {"role": "user", "content": "And what does the relay do?"}
OTHER = [SYSTEM, {"role": "user", "content": "What does the device do?"}]


@pytest.fixture
def engine(chromium: Browser, server: RunningServer) -> Iterator[EnginePage]:
    with opened(chromium, server) as page:
        yield page


def second_turn(first: dict[str, Any]) -> list[dict[str, str]]:
    return [*FIRST, {"role": "assistant", "content": first["text"]}, SECOND]


def reloaded(engine: EnginePage, server: RunningServer, salt: str) -> None:
    """The page comes again, and its engine with it."""
    engine.page.reload()
    engine.page.wait_for_function("() => 'ready' in globalThis")
    engine.ready(server.url, cacheSalt=salt)


def session_ended(engine: EnginePage, server: RunningServer) -> None:
    """The chat's session is closed, and the server has kept what it held."""
    engine.page.evaluate("() => engine.closeChat('chat')")
    reuse = server.parts.steps.reuse
    assert reuse is not None
    until(lambda: not reuse.parking)


def bytes_up(engine: EnginePage) -> int:
    """Of all frames since the page was loaded."""
    sent: int = engine.page.evaluate("async () => (await engine.stats()).bytesUp")
    return sent


def test_a_chat_goes_on_after_its_session_has_ended_and_the_page_was_reloaded(
    engine: EnginePage, server: RunningServer
) -> None:
    engine.ready(server.url, cacheSalt="stayed")
    first = engine.reply(FIRST)
    turn = second_turn(first)
    stayed = engine.reply(turn, maxTokens=8)
    reloaded(engine, server, "cold")
    cold = engine.reply(turn, maxTokens=8)
    cold_bytes = bytes_up(engine)
    assert (cold["promptSent"], cold["promptRestored"]) == (cold["promptTokens"], 0)

    reloaded(engine, server, "left")
    assert engine.reply(FIRST)["ids"] == first["ids"]
    session_ended(engine, server)
    reloaded(engine, server, "left")
    left = engine.reply(turn, maxTokens=8)
    assert left["ids"] == stayed["ids"] == cold["ids"]
    # The new turn, and of what was kept at most the rows of one block.
    assert left["promptSent"] <= stayed["promptSent"] + 16
    assert left["promptRestored"] == left["promptTokens"] - left["promptSent"]
    assert bytes_up(engine) < cold_bytes / 4


def test_a_second_chat_with_the_same_system_prompt_sends_the_rest(
    engine: EnginePage, server: RunningServer
) -> None:
    engine.ready(server.url, cacheSalt="second")
    first = engine.reply(FIRST, chat="first", maxTokens=4)
    second = engine.reply(OTHER, chat="second", maxTokens=4)
    assert (first["promptRestored"], second["promptRestored"] > 0) == (0, True)
    assert second["promptSent"] < second["promptTokens"] / 4


@pytest.mark.parametrize("wish", ["another salt", "off before", "off after"])
def test_what_is_not_kept_for_a_browser_is_sent(
    engine: EnginePage, server: RunningServer, wish: str
) -> None:
    engine.ready(server.url, cacheSalt=wish)
    cache = [{"cache": "off"}, {"cache": "exact"}]
    before, after = {"off before": cache, "off after": cache[::-1]}.get(wish, [{}, {}])
    engine.reply(FIRST, chat="first", maxTokens=4, **before)
    if wish == "another salt":
        reloaded(engine, server, f"{wish} than that")
    again = engine.reply(FIRST, chat="second", maxTokens=4, **after)
    assert (again["promptSent"], again["promptRestored"]) == (again["promptTokens"], 0)
