"""The cost of the page for its main thread, and how soon it can be used."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.web.browsing import PHONE
from tests.web.fake_page import opened

LONGEST_TASK_MS = 16.0
_TRACES = 4
INTERACTIVE_MS = 1000.0
SLOWER = 4
_CATEGORIES = ["toplevel", "devtools.timeline"]
# The composer takes text from the moment at which it stands in the page.
_NOTE = """new MutationObserver(() => {
  if (document.querySelector('#composer')) globalThis.usable ??= performance.now();
}).observe(document, { childList: true, subtree: true });"""


def main_thread_tasks(trace: dict[str, Any]) -> list[float]:
    """Milliseconds of CPU time of each task of the page's main thread."""
    events = trace["traceEvents"]
    main = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"].get("name") == "CrRendererMain"
    }
    return [
        event["tdur"] / 1000
        for event in events
        if (event["pid"], event["tid"]) in main
        and event["name"].endswith("RunTask")
        and "tdur" in event
    ]


def longest_task(traced: Callable[[Path], None], trace: Path) -> float:
    """The shortest of the longest tasks of some traces that ``traced`` writes: other work of the
    machine only ever makes a task longer, also in CPU time where two cores share their units.
    """
    longest = []
    while not longest or (longest[-1] > LONGEST_TASK_MS and len(longest) < _TRACES):
        traced(trace)
        tasks = main_thread_tasks(json.loads(trace.read_text()))
        assert len(tasks) > 500
        longest.append(max(tasks))
    return min(longest)


@pytest.mark.slow
def test_no_task_of_a_reply_takes_longer_than_a_frame(
    chromium: Browser, url: str, tmp_path: Path
) -> None:
    def traced(trace: Path) -> None:
        with opened(chromium, f"{url}?engine=long", fresh=True, **PHONE) as chat:
            page = chat.page
            expect(page.locator("#status")).to_contain_text("recover")
            chat.write("At length, please")
            expect(chat.reply(0)).to_contain_text("tokenizer")
            chromium.start_tracing(page=page, path=trace, categories=_CATEGORIES)
            page.wait_for_timeout(5000)
            chromium.stop_tracing()
            chat.stop()

    assert longest_task(traced, tmp_path / "trace.json") <= LONGEST_TASK_MS


@pytest.mark.slow
def test_a_slow_phone_can_write_within_a_second(chromium: Browser, url: str) -> None:
    def once() -> float:
        context = chromium.new_context(**PHONE)
        try:
            page = context.new_page()
            session = context.new_cdp_session(page)
            session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
            page.add_init_script(_NOTE)
            page.goto(url)
            page.wait_for_function("() => globalThis.usable")
            usable: float = page.evaluate("usable")
            return usable
        finally:
            context.close()

    # Other work of the machine only ever makes it slower: one time that is short enough says it.
    assert any(once() < INTERACTIVE_MS for _ in range(30))
