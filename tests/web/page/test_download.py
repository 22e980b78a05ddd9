"""The download of a model's ends on a phone, over a link that is slow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.server_process import running_server
from tests.web.browsing import PHONE, Browser
from tests.web.chat_page import ChatPage
from tests.web.weights.slow_link import SlowLink

SIZE: dict[str, Any] = PHONE | {"viewport": {"width": 390, "height": 844}}
_KB = 1000


@pytest.fixture
def link(web_root: Path) -> Iterator[SlowLink]:
    with running_server(web_root=str(web_root)) as server, SlowLink(server.port) as slow:
        yield slow


def test_a_download_tells_what_has_come_and_goes_on_in_the_middle_of_a_piece(
    chromium: Browser, link: SlowLink
) -> None:
    context = chromium.new_context(**SIZE)
    chat = ChatPage(context.new_page(), touch=True)
    line = chat.page.locator(".progress-line")
    chat.page.goto(link.url)
    expect(chat.page.get_by_role("button", name="Download 830 kB")).to_be_visible()
    passed = link.passed
    link.let(400 * _KB)
    chat.press("Download 830 kB")
    # All of it is one piece, so nothing is verified yet.
    expect(line).to_contain_text(re.compile(r"3\d\d kB of 830 kB"))
    expect(line).to_contain_text(re.compile(r"\d kB/s, \d+ s left"))
    chat.picture("download")
    expect(line).to_contain_text("Waiting for the server…", timeout=20_000)
    chat.press("Pause")
    expect(chat.page.get_by_text("Here already")).to_be_visible()
    chat.picture("download-paused")
    link.let(None)
    chat.page.get_by_role("button", name=re.compile(r"Go on \(4\d\d kB left\)")).tap()
    chat.ready()
    # With what was on its way when it was paused; what had come was not sent again.
    assert link.passed - passed < 1100 * _KB
    assert chat.errors == []
    context.close()
