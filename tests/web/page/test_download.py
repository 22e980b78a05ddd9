"""The download of a model's ends on a phone, over a link that is slow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.packed_models import PACKED, TABLE, PackedModel, packed_model
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
    # What a service worker takes in beside the download would pass the link and be counted.
    context = chromium.new_context(**SIZE, service_workers="block")
    chat = ChatPage(context.new_page(), touch=True)
    line = chat.page.locator(".progress-line")
    chat.page.goto(link.url)
    expect(chat.page.get_by_role("button", name="Download 830 kB")).to_be_visible()
    passed = link.passed
    link.let(380 * _KB)
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


@dataclass(frozen=True)
class Visit:
    """What a page offered, asked for, and replied."""

    offered: str
    files: list[str]
    reply: str


def _visit(chromium: Browser, web_root: Path, checkpoint: Path, picture: str) -> Visit:
    files: list[str] = []
    context = chromium.new_context(**SIZE)
    chat = ChatPage(context.new_page(), touch=True)
    context.on("request", lambda request: files.append(request.url.rpartition("/weights/")[2]))
    with running_server(checkpoint, web_root=str(web_root), dtype="float32") as server:
        chat.page.goto(server.url)
        offered = chat.page.get_by_role("button", name="Download")
        offered.wait_for()
        chat.picture(picture)
        name = offered.inner_text()
        chat.download()
        chat.set_number("Temperature", "0")
        chat.set_number("Longest reply", "24")
        chat.write("A savings account pays interest.")
        reply = chat.whole_reply(0)
        # A page that outlives its server would tell of that.
        assert chat.errors == []
        context.close()
    return Visit(name, [file for file in files if file in (TABLE, PACKED)], reply)


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> PackedModel:
    return packed_model(tmp_path_factory.mktemp("model"))


def test_a_table_that_comes_in_blocks_is_offered_smaller_and_gives_the_same_reply(
    chromium: Browser, web_root: Path, packed: PackedModel
) -> None:
    in_blocks = _visit(chromium, web_root, packed.packed, "download-packed")
    as_rows = _visit(chromium, web_root, packed.plain, "download-plain")
    assert (in_blocks.files, as_rows.files) == ([PACKED], [TABLE])
    assert in_blocks.reply == as_rows.reply != ""
    sizes = [float(visit.offered.split()[1]) for visit in (as_rows, in_blocks)]
    assert sizes[0] - sizes[1] == pytest.approx(packed.spared / _KB, abs=1)
