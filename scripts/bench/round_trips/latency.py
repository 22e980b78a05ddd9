"""What a person waits for over a slow line: the first token, the next turn, a long prompt, leaving.

A real split-server with the embedded model, a real client, and a hop in between that takes a round
trip for the handshake and half of one for every byte each way.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scripts.bench.report import heading, spread, table
from scripts.bench.reuse.devices import Prompts
from scripts.bench.round_trips.delayed import DelayedHop
from scripts.listening import listening
from split_client.api import SamplingParams, SplitClient
from split_client.generation.steps import OneByOne

_PROMPT = "What is split inference?"
_LONG = 3072


def main() -> None:
    options = _options()
    rows = []
    with (
        tempfile.TemporaryDirectory() as folder,
        listening("serve", "--no-compat", "--kv-reuse", "off") as (url, _),
    ):
        cache = Path(folder)
        with SplitClient(url, cache=cache) as client:
            client.generate(_PROMPT, SamplingParams(), max_tokens=1).read()
        for milliseconds in options.round_trips:
            with delayed(url, milliseconds / 1e3) as slow:
                rows.append(_row(slow, cache, milliseconds, options.rounds))
    head = ["RTT", "first token, new client", "of a chat, after it is sent", "leaving"]
    head += [f"prompt of {_LONG:,}", "one step at a time", "ratio"]
    print(heading("Over a slow line", "float16"))
    print(table(head, rows))


def _row(url: str, cache: Path, milliseconds: float, rounds: int) -> list[str]:
    first, chat, leaving, several, single = ([0.0] * 0 for _ in range(5))
    for number in range(rounds):
        client, seconds = _first(url, cache)
        first.append(seconds)
        conversation = client.conversation()
        conversation.send(_PROMPT).read()
        began = time.perf_counter()
        next(iter(conversation.send(f"And what is a relay, in {number + 3} words?").events()))
        chat.append(time.perf_counter() - began)
        prompts = Prompts(client.manifest.vocab_size, seed=number)
        for one_by_one in (False, True) if number % 2 else (True, False):
            seconds = _prefill(client, prompts.new(_LONG), one_by_one=one_by_one)
            (single if one_by_one else several).append(seconds)
        began = time.perf_counter()
        client.close()
        leaving.append(time.perf_counter() - began)
    ratios = [a / b for a, b in zip(several, single, strict=True)]
    return [
        f"{milliseconds:g} ms",
        *map(_ms, (first, chat, leaving, several, single)),
        spread(ratios, "x"),
    ]


def _ms(seconds: list[float]) -> str:
    return spread([1e3 * each for each in seconds], "ms", 0)


def _first(url: str, cache: Path) -> tuple[SplitClient, float]:
    """A client whose model is in ``cache``, and the seconds from its making to its first token."""
    began = time.perf_counter()
    client = SplitClient(url, cache=cache)
    next(iter(client.generate(_PROMPT, SamplingParams(), max_tokens=1).events()))
    return client, time.perf_counter() - began


def _prefill(client: SplitClient, ids: list[int], *, one_by_one: bool) -> float:
    """Seconds of a prompt in a session that is open."""
    sequence = client.sequence()
    sequence.extend(ids[:1])
    if one_by_one:
        sequence._flow = OneByOne(sequence._backend)
    # Two round trips tell how many steps to have under way.
    sequence.extend([*ids[:1], *ids[2:600]])
    began = time.perf_counter()
    sequence.extend(ids)
    seconds = time.perf_counter() - began
    sequence.close()
    return seconds


@contextmanager
def delayed(url: str, round_trip: float) -> Iterator[str]:
    """The server as it is seen over a line with that round trip."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    hop = DelayedHop(url, round_trip)
    asyncio.run_coroutine_threadsafe(hop.open(), loop).result()
    try:
        yield hop.url
    finally:
        asyncio.run_coroutine_threadsafe(_ended(hop), loop).result()
        loop.call_soon_threadsafe(loop.stop)


async def _ended(hop: DelayedHop) -> None:
    await hop.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        await asyncio.wait(others, timeout=5)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--round-trips", type=float, nargs="+", default=[0, 5, 20, 50, 100])
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


if __name__ == "__main__":
    main()
