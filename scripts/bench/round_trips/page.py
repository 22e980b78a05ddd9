"""The page's loop over the same workloads, in Chromium."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from scripts.bench.round_trips.embedded_chats import Said
from scripts.bench.round_trips.network import HEADER_DOWN, HEADER_UP, ROW, Network
from scripts.bench.round_trips.reply import Timed
from scripts.bench.round_trips.scripted import Traffic
from scripts.bench.round_trips.workloads import MOST, Workload
from scripts.bench.web.loop_peer.chromium import Tab, browser
from split_server.checkpoint.folder import EMBEDDED


class PageLoop:
    """Asks a worker of the page for whole chats."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        config = json.loads((EMBEDDED / "config.json").read_text("utf-8"))
        text = (EMBEDDED / "tokenizer.json").read_text("utf-8")
        rows, eos = config["vocab_size"], [config["eos_token_id"]]
        tab.ask("trips", "open", text=text, rows=rows, eos=eos)

    def work(self, network: Network, work: Workload) -> tuple[Timed, Timed]:
        """One scripted reply, plainly and ahead."""
        plain = {"prompt": work.prompt, "reply": work.reply, "most": len(work.reply)}
        ahead = (
            plain
            if work.form is None
            else plain
            | {
                "text": work.text,
                "form": json.dumps(work.form),
                "most": 2 * MOST,
            }
        )
        return self._replies(network, [plain], False), self._replies(network, [ahead], True)

    def chat(
        self, network: Network, turns: Sequence[Said], remembered: Sequence[Said] | None = None
    ) -> tuple[Timed, Timed]:
        """All turns of a chat; ``remembered``: those of another one."""
        told = [{"prompt": t.prompt, "reply": t.reply, "most": len(t.reply)} for t in turns]
        kept = None if remembered is None else [[t.prompt, t.reply] for t in remembered]
        return self._replies(network, told, False), self._replies(network, told, True, kept)

    def _replies(
        self, network: Network, turns: list[Any], drafts: bool, remembered: list[Any] | None = None
    ) -> Timed:
        told = self._tab.ask(
            "trips",
            "replies",
            network=_told(network),
            turns=turns,
            drafts=drafts,
            remembered=remembered,
        )
        return Timed(told["ids"], told["seconds"], Traffic(**told["traffic"]))


@contextmanager
def page_loop() -> Iterator[PageLoop]:
    """A page in a browser of its own."""
    with browser() as opened, opened.tab() as tab:
        yield PageLoop(tab)


def _told(network: Network) -> dict[str, float]:
    return {
        "round_trip": network.round_trip,
        "fixed": network.fixed,
        "per_row": network.per_row,
        "head": network.head,
        "up": network.up,
        "down": network.down,
        "header_up": HEADER_UP,
        "header_down": HEADER_DOWN,
        "row": ROW,
    }
