"""What gathering brightness costs a chat: time and bytes of a token, and the device's own work.

One real split-server and one client without drafts. The same reply is made with brightness and
without, in interleaved rounds, behind a prompt of so many tokens. The device's part is timed by
itself on drawn rows over 4,096 positions, in the processor's time.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import time
from dataclasses import dataclass

import numpy as np

from scripts.bench.logged_server import logged_server, server_folder
from scripts.bench.options import add_server_option
from scripts.bench.report import finish, heading
from scripts.real.model import real_model
from split_client import SplitClient
from split_client.chat.brightness.formula import new
from split_client.chat.brightness.gathering import Gathering
from split_client.chat.brightness.rows import DEFAULT, MODES, MOST_WEIGHTS, Mode, mode_of
from split_wire.attention import AttentionWeights

_CONTEXT = 4096
_LIMITS = (1.10, 600, 1.0)


@dataclass(frozen=True, slots=True)
class Cost:
    """Of a token: milliseconds on the clock, bytes both ways."""

    ms: float
    size: float


def main() -> None:
    options = _options()
    costs: dict[bool, list[Cost]] = {True: [], False: []}
    with contextlib.ExitStack() as stack:
        folder = server_folder(stack, options.folder)
        model = options.model or str(real_model())
        arguments = ("--model", model, "--dtype", "float32", *options.server)
        server = stack.enter_context(logged_server(folder / "server.log", *arguments))
        client = stack.enter_context(SplitClient(server.url, drafts="off"))
        text = _text(client, options.context)
        for number in range(1 + options.rounds):
            for on in (number % 2 == 0, number % 2 == 1):
                cost = _replied(client, text, mode_of(options.mode) if on else None, options.tokens)
                # The first one has the server and the client warm.
                costs[on] += [cost] if number else []
        faults = server.faults()
    _report(options, costs, device_ms(options.mode))
    finish([f"the server's log: {fault}" for fault in faults])


def device_ms(mode: Mode, rounds: int = 200) -> float:
    """Processor's milliseconds of one row at a context of 4,096."""
    draw = np.random.default_rng(1)
    gathered = Gathering(mode, (), (), new(_CONTEXT - 100))
    rows = [_drawn(draw) for _ in range(rounds)]
    began = time.process_time()
    for row in rows:
        gathered.take(row, _CONTEXT)
    return 1e3 * (time.process_time() - began) / rounds


def _drawn(draw: np.random.Generator) -> AttentionWeights:
    places = draw.permutation(_CONTEXT)[:MOST_WEIGHTS].astype(np.int32)
    values = np.sort(draw.dirichlet(np.ones(MOST_WEIGHTS)))[::-1].astype(np.float16)
    return AttentionWeights(values.astype(np.float32)[None, None], places[None, None])


def _text(client: SplitClient, tokens: int) -> str:
    """A message of about so many tokens."""
    line = "The lighthouse keeper wrote down what the sea had brought. "
    own = len(client.ends.tokenizer.encode(line))
    return line * max(1, tokens // own)


def _replied(client: SplitClient, text: str, mode: Mode | None, tokens: int) -> Cost:
    """Of a reply's tokens but the first, in a chat whose first turn is the long one."""
    chat = client.conversation(temperature=0)
    chat.max_tokens = 1
    chat.send(text).read()
    chat.brighten, chat.max_tokens = mode, tokens
    stamps, sizes = list[float](), list[int]()
    reply = chat.send("What did he write down?")
    for _ in reply.events():
        stamps.append(time.perf_counter())
        sizes.append(reply.stats.bytes_up + reply.stats.bytes_down)
    chat.close()
    count = len(stamps) - 2
    if count < 1:
        raise SystemExit("the reply ended with its first token; take another --context")
    return Cost(1e3 * (stamps[-2] - stamps[0]) / count, (sizes[-2] - sizes[0]) / count)


def _report(options: argparse.Namespace, costs: dict[bool, list[Cost]], device: float) -> None:
    print(heading("Brightness while a reply is made", "float32"))
    print(
        f"Context {options.context}, {options.tokens} tokens, {options.rounds} interleaved rounds, "
        f"medians, without drafts, brightness from `{options.mode}`.\n"
    )
    plain, bright = (statistics.median(c.ms for c in costs[on]) for on in (False, True))
    small, large = (statistics.median(c.size for c in costs[on]) for on in (False, True))
    time_limit, size_limit, device_limit = _LIMITS
    print("| | without | with | | bar |")
    print("| --- | --- | --- | --- | --- |")
    print(f"| ms per token | {plain:.1f} | {bright:.1f} | {bright / plain:.2f}x | {time_limit}x |")
    print(f"| bytes per token | {small:.0f} | {large:.0f} | {large - small:+.0f} | {size_limit} |")
    print(
        f"| device, ms of its processor per token at {_CONTEXT:,} | | {device:.3f} | "
        f"| {device_limit} |"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--context", type=int, default=2000)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mode", choices=MODES, default=DEFAULT)
    parser.add_argument("--model", help="a trained model (default: the one of scripts/real)")
    parser.add_argument("--folder", help="keep the log here")
    add_server_option(parser)
    options = parser.parse_args()
    if options.tokens < 4 or options.rounds < 1:
        parser.error("at least four tokens and one round")
    return options


if __name__ == "__main__":
    main()
