"""A file of a megabyte goes out redacted, and the page stays one that answers."""

from __future__ import annotations

import json
import random
from itertools import islice
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.web.browsing import DESKTOP
from tests.web.chat_page import ChatPage
from tests.web.fake_page import opened
from tests.web.page.test_redaction import going_out, switch
from tests.web.page.test_speed import main_thread_tasks
from tests.web.redaction.planted import numbers, squeezed

MEGABYTE = 1 << 20
LONGEST_TASK_MS = 50.0
_TRACES = 4
_CATEGORIES = ["toplevel", "devtools.timeline"]
# It has room for a megabyte; what it tells of tokens would be made in the page's own thread.
_ENGINE = "?engine=no_attention&room=10000000"
_SENT = "() => fakeEngine.asked[0].messages[0].content"
_DOCS = Path(__file__).parents[3] / "docs"
_VALUES = 900


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Prose, with a value in every kilobyte or so."""
    prose = "".join(page.read_text("utf-8") for page in sorted(_DOCS.glob("*.md")))
    planted = islice(numbers(random.Random(3)), _VALUES)  # noqa: S311
    room = MEGABYTE // _VALUES - 60
    parts = [
        f"{(prose * 2)[number * room : (number + 1) * room]}\nAnna Schmidt {text}\n"
        for number, (_, text) in enumerate(planted)
    ]
    path = tmp_path / "file.txt"
    path.write_bytes("".join(parts).encode()[: MEGABYTE - 100])
    return path


def _sent(chat: ChatPage, file: Path) -> str:
    """What an engine is told of the file, once it has replied."""
    page = chat.page
    expect(page.locator("#status")).to_contain_text("recover")
    switch(chat)
    page.get_by_label("Attach text files").first.set_input_files(file)
    expect(going_out(page).locator("strong")).not_to_have_count(0)
    chat.write("Read this")
    chat.whole_reply(0)
    sent: str = page.evaluate(_SENT)
    return sent


@pytest.mark.slow
def test_no_task_takes_long_while_a_megabyte_is_redacted(
    chromium: Browser, url: str, file: Path, tmp_path: Path
) -> None:
    longest: list[float] = []
    while not longest or (longest[-1] > LONGEST_TASK_MS and len(longest) < _TRACES):
        trace = tmp_path / "trace.json"
        with opened(chromium, url + _ENGINE, fresh=True, **DESKTOP) as chat:
            chromium.start_tracing(page=chat.page, path=trace, categories=_CATEGORIES)
            sent = squeezed(_sent(chat, file))
            chromium.stop_tracing()
        assert len(sent) > MEGABYTE // 2
        planted = islice(numbers(random.Random(3)), _VALUES)  # noqa: S311
        assert [text for secret, text in planted if secret in sent] == []
        # Other work of the machine only ever makes a task longer.
        longest.append(max(main_thread_tasks(json.loads(trace.read_text()))))
    assert min(longest) <= LONGEST_TASK_MS
