"""What drafting costs the device in a long chat, and what it gains and loses on any network.

    python -m scripts.bench.drafts.run

Costs are processor time and memory of Python. Gains are those of a virtual clock: a step takes its
round trip, 8 ms, so much for each row, and the time that its bytes need; choosing a token 7 ms.
"""

from __future__ import annotations

import argparse
import itertools
import time
import tracemalloc

from scripts.bench.drafts.virtual import Network, decoded, plain
from scripts.bench.drafts.workloads import Workload, workloads
from scripts.bench.report import heading, table
from scripts.vectors.drafts.texts import Numbers
from split_client.generation.speculation.drafter import Drafter
from split_client.generation.speculation.memo import Memo

_REPLY = 500
_ROUND_TRIPS = (0.0, 0.005, 0.02, 0.05, 0.1)
_ROWS = (0.0, 0.0007, 0.003, 0.015)
_UPLINKS = (0.5e6, 5e6, 50e6)
_MOST = 15


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=100_000, help="of the long chat")
    options = parser.parse_args()
    print(heading("Drafts: cost on the device, gain on a virtual clock", "ids alone"))
    numbers = Numbers(3)
    chats = {
        "random ids of 50,000": numbers.ids(options.tokens, 50_000),
        "random ids of 50": numbers.ids(options.tokens, 50),
        "one id": [7] * options.tokens,
        "three ids in turn": [1 + index % 3 for index in range(options.tokens)],
    }
    costs = [_cost(name, chat) for name, chat in chats.items()]
    print(table(("chat", "ms a token", "taken in at once, s", "MB"), costs))
    rows = [_gain(name, workload) for name, workload in workloads(_REPLY).items()]
    head = ("reply", "tokens a step, 50 ms", *(f"{1e3 * trip:g} ms" for trip in _ROUND_TRIPS))
    print(table((*head, "worst", "bytes, 50 ms", "most bytes"), rows))


def _cost(name: str, chat: list[int]) -> tuple[str, ...]:
    """Of a drafter whose memo is full, and that expects a text as well."""
    tracemalloc.start()
    memo = Memo()
    memo.replied([], chat)
    drafter = Drafter.of_chat(memo)
    drafter.expect(chat[: len(chat) // 10])
    drafter.draft(chat, _MOST)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    begun = time.process_time()
    drafter = Drafter.of_chat(memo)
    drafter.draft(chat, _MOST)
    taken = time.process_time() - begun
    drafter.expect(chat[: len(chat) // 10])
    grown, begun = list(chat), time.process_time()
    for token in chat[:_REPLY]:
        grown.append(token)
        drafter.draft(grown, _MOST)
    each = (time.process_time() - begun) / _REPLY
    return name, f"{1e3 * each:.3f}", f"{taken:.2f}", f"{held / 1e6:.1f}"


def _gain(name: str, workload: Workload) -> tuple[str, ...]:
    """Times as fast as without drafts: at usual costs by round trip, and the least of all."""
    prompt, reply = workload
    usual, bytes_sent, tokens = list[str](), 0.0, 0.0
    for round_trip in _ROUND_TRIPS:
        network = Network(round_trip=round_trip)
        told, without = decoded(Drafter.of_chat(), network, prompt, reply), plain(network, _REPLY)
        usual.append(f"{without.seconds / told.seconds:.2f}")
        if round_trip == 0.05:
            bytes_sent, tokens = told.sent / without.sent, told.tokens_per_step
    worst, most = float("inf"), 0.0
    for round_trip, row, uplink in itertools.product(_ROUND_TRIPS, _ROWS, _UPLINKS):
        network = Network(round_trip=round_trip, row=row, uplink=uplink)
        told, without = decoded(Drafter.of_chat(), network, prompt, reply), plain(network, _REPLY)
        worst = min(worst, without.seconds / told.seconds)
        most = max(most, told.sent / without.sent)
    return name, f"{tokens:.2f}", *usual, f"{worst:.3f}", f"{bytes_sent:.2f}", f"{most:.2f}"


if __name__ == "__main__":
    main()
