"""Round trips of a reply with drafts and forced tokens, against plain decoding in the same run.

The states are scripted: what the model writes is fixed, and each state is checked to be of exactly
the tokens before it. Loop, drafts, forms and sequence are the device's own. Time is counted: round
trips, bytes over the link, the server's pass, the choice from a state; the device's own work is
added as processor time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scripts.bench.report import heading, table
from scripts.bench.round_trips.bound import tokens_a_step
from scripts.bench.round_trips.embedded_chats import Said, said
from scripts.bench.round_trips.model import Model
from scripts.bench.round_trips.network import Network
from scripts.bench.round_trips.page import PageLoop, page_loop
from scripts.bench.round_trips.reply import Chat, Timed
from scripts.bench.round_trips.workloads import MOST, Workload, says
from split_client.generation.speculation.drafter import Drafter
from split_client.generation.speculation.memo import Memo

ROUND_TRIPS = (0.0, 0.005, 0.02, 0.05, 0.1)
_TOLD_AT = 0.05
_PER_ROW = (0.0, 0.0007, 0.003, 0.008, 0.015)
_UP = (0.5e6, 5e6, 50e6)
_LEAST = 0.98
# Tokens of a prompt behind which a reply is remembered.
_CONTEXT = 8
_CHAT = "embedded model, a chat of 40 turns"
_MEMORY = "the same, memory of this server"


@dataclass(frozen=True, slots=True)
class Case:
    """A row of the table: over a network the plain time and the other, of the same replies.

    ``bound``: the most tokens that a round trip could bring, None where a form forces some.
    """

    name: str
    run: Callable[[Network], tuple[Timed, Timed]]
    bound: float | None = None


def main() -> None:
    options = _options()
    model = Model.embedded()
    cases = [_case(model, each) for each in model.workloads()]
    first, second = list[Said](), list[Said]()
    if not options.scripted:
        first, second = said()
        cases += [_chat_case(model, first), _memory_case(model, first, second)]
    parts = [heading("Round trips of a reply", "float16"), _times(cases)]
    if options.page:
        with page_loop() as page:
            paged = [_page_case(page, each) for each in model.workloads()]
            if not options.scripted:
                paged += _page_chats(page, first, second)
            parts += ["In the page:\n", _times(paged)]
    if not options.quick:
        parts.append(_never_slower(cases))
    text = "\n".join(parts)
    print(text)
    if options.out is not None:
        options.out.write_text(text, "utf-8")


def _case(model: Model, work: Workload) -> Case:
    def run(network: Network) -> tuple[Timed, Timed]:
        plain = Chat(network, model.tokenizer).reply(work.prompt, says(work.reply), len(work.reply))
        chat = Chat(network, model.tokenizer, Drafter.of_chat())
        if work.form is None:
            ahead = chat.reply(work.prompt, says(work.reply), len(work.reply))
            _require(ahead.ids == plain.ids, work.name)
        else:
            script = model.following(work.text)
            ahead = chat.reply(work.prompt, script, 2 * MOST, model.constraint(work.form))
            _require(model.text(ahead.ids) == work.text, work.name)
        return plain, ahead

    bound = None if work.form else tokens_a_step([(work.prompt, work.reply)])
    return Case(work.name, run, bound)


def _chat_case(model: Model, turns: list[Said]) -> Case:
    def run(network: Network) -> tuple[Timed, Timed]:
        return _turns(network, model, turns, None), _turns(network, model, turns, Drafter.of_chat())

    return Case(_CHAT, run, tokens_a_step(_said(turns)))


def _memory_case(model: Model, first: list[Said], second: list[Said]) -> Case:
    def run(network: Network) -> tuple[Timed, Timed]:
        memo = Memo()
        for turn in first:
            memo.replied(turn.prompt, turn.reply)
        ahead = _turns(network, model, second, Drafter.of_chat(memo))
        return _turns(network, model, second, None), ahead

    earlier = [[*prompt[-_CONTEXT:], *reply] for prompt, reply in _said(first)]
    return Case(_MEMORY, run, tokens_a_step(_said(second), earlier))


def _said(turns: list[Said]) -> list[tuple[list[int], list[int]]]:
    return [(turn.prompt, turn.reply) for turn in turns]


def _page_case(page: PageLoop, work: Workload) -> Case:
    def run(network: Network) -> tuple[Timed, Timed]:
        plain, ahead = page.work(network, work)
        _require(plain.ids == work.reply, work.name)
        _require(work.form is not None or ahead.ids == work.reply, work.name)
        return plain, ahead

    return Case(work.name, run)


def _page_chats(page: PageLoop, first: list[Said], second: list[Said]) -> list[Case]:
    def chat(network: Network) -> tuple[Timed, Timed]:
        return page.chat(network, first)

    def memory(network: Network) -> tuple[Timed, Timed]:
        return page.chat(network, second, first)

    return [Case(_CHAT, chat), Case(_MEMORY, memory)]


def _turns(network: Network, model: Model, turns: list[Said], drafter: Drafter | None) -> Timed:
    """All replies of one chat, as if they were one."""
    chat = Chat(network, model.tokenizer, drafter)
    whole: Timed | None = None
    for turn in turns:
        timed = chat.reply(turn.prompt, says(turn.reply), len(turn.reply))
        _require(timed.ids == turn.reply, "a turn")
        whole = timed if whole is None else _joined(whole, timed)
    if whole is None:
        raise RuntimeError("a chat without a turn")
    return whole


def _joined(a: Timed, b: Timed) -> Timed:
    x, y = a.traffic, b.traffic
    both = replace(
        x,
        steps=x.steps + y.steps,
        rows=x.rows + y.rows,
        states=x.states + y.states,
        up=x.up + y.up,
        down=x.down + y.down,
    )
    return Timed(a.ids + b.ids, a.seconds + b.seconds, both)


def _times(cases: Sequence[Case]) -> str:
    head = ["workload", "tokens", "a round trip at 50 ms", "at most", "bytes"]
    head += [f"RTT {1e3 * each:.0f}" for each in ROUND_TRIPS]
    return table(head, [_row(case) for case in cases])


def _row(case: Case) -> list[str]:
    ratios, told = [], ["", "", ""]
    for round_trip in ROUND_TRIPS:
        plain, ahead = case.run(Network(round_trip))
        ratios.append(f"{plain.seconds / ahead.seconds:.2f}x")
        if round_trip == _TOLD_AT:
            told = [
                str(len(ahead.ids)),
                f"{len(ahead.ids) / ahead.traffic.steps:.2f}",
                f"{ahead.bytes / plain.bytes:.2f}x",
            ]
    told.insert(2, "" if case.bound is None else f"{case.bound:.2f}")
    return [case.name, *told, *ratios]


def _never_slower(cases: Sequence[Case]) -> str:
    """The worst of each workload over what a row costs and what the uplink carries."""
    rows = []
    for case in cases:
        found = []
        for round_trip in ROUND_TRIPS:
            for per_row in _PER_ROW:
                for up in _UP:
                    plain, ahead = case.run(Network(round_trip, per_row=per_row, up=up))
                    ratio = plain.seconds / ahead.seconds
                    row, link = f"{1e3 * per_row:g} ms a row", f"{up / 1e6:g} Mbit/s"
                    where = f"RTT {1e3 * round_trip:.0f}, {row}, {link}"
                    found.append((ratio, where, ahead.bytes / plain.bytes))
        ratio, where, _ = min(found)
        most = max(each[2] for each in found)
        rows.append([case.name, f"{ratio:.3f}x", where, f"{most:.2f}x", _kept(ratio >= _LEAST)])
    return table(["workload", "slowest", "at", "most bytes", f"at least {_LEAST}x"], rows)


def _kept(kept: bool) -> str:
    return "kept" if kept else "NOT KEPT"


def _require(right: bool, name: str) -> None:
    if not right:
        raise RuntimeError(f"{name}: the reply is not that of plain decoding")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="without the sweep of networks")
    parser.add_argument(
        "--scripted", action="store_true", help="without the embedded model's chats"
    )
    parser.add_argument("--page", action="store_true", help="in Chromium as well")
    parser.add_argument("--out", type=Path, metavar="FILE")
    return parser.parse_args()


if __name__ == "__main__":
    main()
