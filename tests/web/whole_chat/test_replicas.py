"""The page over several servers behind a balancer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.balancer import Balancer
from tests.patience import until
from tests.server_process import RunningServer, running_server
from tests.web.chat_page import ChatPage
from tests.web.whole_chat.on_a_phone import settings_on_a_phone

FIRST, SECOND, THIRD = "What is split inference?", "And what does the relay do?", "And now?"
_ROUTING = "() => localStorage.getItem('gatelink.routing')"


@pytest.fixture(scope="module")
def replicas(web_root: Path) -> Iterator[list[RunningServer]]:
    with (
        running_server(web_root=str(web_root)) as one,
        running_server(web_root=str(web_root)) as other,
    ):
        yield [one, other]


@pytest.fixture
def balancer(replicas: list[RunningServer]) -> Iterator[Balancer]:
    with Balancer(*(server.port for server in replicas)) as made:
        yield made


@pytest.fixture
def chat(chromium: Browser, balancer: Balancer) -> Iterator[ChatPage]:
    with settings_on_a_phone(chromium, balancer.url) as page:
        page.tab("Sampling")
        page.page.get_by_label("Longest reply", exact=True).fill("12")
        page.page.get_by_label("Temperature", exact=True).fill("0")
        page.page.keyboard.press("Escape")
        yield page


def _opened(replicas: list[RunningServer]) -> list[int]:
    return [len(server.parts.steps.store) for server in replicas]


def test_a_chat_over_http_stays_with_one_server(
    chat: ChatPage, balancer: Balancer, replicas: list[RunningServer]
) -> None:
    balancer.upgrades = False
    balancer.cut()
    before = _opened(replicas)
    for number, text in enumerate((FIRST, SECOND)):
        chat.write(text)
        chat.whole_reply(number)
    frames = [one for one in balancer.frames() if one.path.endswith("/forward") and one.port]
    assert len(frames) > 24
    assert {one.s for one in frames} == {chat.page.evaluate(_ROUTING)}
    assert len({one.port for one in frames}) == 1
    # It was opened when the field was written into, or now; a lost one would be opened again.
    assert sum(_opened(replicas)) - sum(before) <= 1
    assert chat.errors == []


def test_a_chat_goes_on_elsewhere_and_has_another_routing_id_once_it_is_forgotten(
    chat: ChatPage, balancer: Balancer
) -> None:
    chat.write(FIRST)
    chat.whole_reply(0)
    first = balancer.frames()[-1]
    assert first.port is not None
    balancer.ports = tuple(port for port in balancer.ports if port != first.port)
    balancer.cut()
    chat.write(SECOND)
    chat.whole_reply(1)
    assert balancer.frames()[-1].port in balancer.ports
    assert balancer.frames()[-1].s == first.s == chat.page.evaluate(_ROUTING)
    chat.press("Saved chats")
    item = chat.page.get_by_role("listitem").filter(has_text=FIRST).first
    item.get_by_role("button", name="More for").tap()
    chat.press("Forget on the server", item)
    expect(item.get_by_text("The chat stays here", exact=False)).to_be_visible()
    chat.press("Forget on the server", item)
    until(lambda: chat.page.evaluate(_ROUTING) != first.s)
    anew = chat.page.evaluate(_ROUTING)
    assert re.fullmatch("[A-Za-z0-9_-]{22}", anew)
    chat.page.keyboard.press("Escape")
    chat.write(THIRD)
    chat.whole_reply(2)
    assert balancer.frames()[-1].s == anew
    others = [one for one in balancer.asked if one not in balancer.frames()]
    assert all("s=" not in one.query for one in others)
    assert chat.errors == []
