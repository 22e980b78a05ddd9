"""The cost of keeping what the tokens of a reply were chosen from, and of a chosen alternative.

One real split-server and a device client without drafts; interleaved greedy replies of a chat that
keeps the states of its tokens and of one that does not. Times begin with the second token. Then
alternatives are asked for, and a branch is begun from one in the middle of the reply.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from pathlib import Path
from statistics import median

from scripts.bench.logged_server import logged_server, server_folder
from scripts.bench.options import add_server_option
from scripts.bench.report import finish, heading
from scripts.bench.shapes import SHAPES, served_checkpoint
from split_client import SamplingParams, SplitClient
from split_client.api import ChatSession

_BAR = 1.05


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = server_folder(stack, options.folder)
        path = (
            Path(options.model)
            if options.model
            else served_checkpoint(options.shape, folder, options.dtype)
        )
        arguments = ("--model", str(path), "--dtype", options.dtype, *options.server)
        server = stack.enter_context(logged_server(folder / "server.log", *arguments))
        client = stack.enter_context(
            SplitClient(server.url, cache=folder / "cache", drafts="off", server_cache="off")
        )
        print(heading("Alternatives", options.dtype))
        problems = _compared(client, options)
        faults = server.faults()
    finish([*problems, *(f"the server's log: {fault}" for fault in faults)])


def _compared(client: SplitClient, options: argparse.Namespace) -> list[str]:
    bias = dict.fromkeys(client.manifest.eos_token_ids, -100.0)
    params = SamplingParams(logit_bias=bias)
    chats = {
        keeps: client.conversation(params=params, max_tokens=options.tokens)
        for keeps in (True, False)
    }
    for keeps, chat in chats.items():
        chat.alternatives = keeps
        chat.send(options.prompt * options.repeat).read()
    times: dict[bool, list[float]] = {True: [], False: []}
    processor: dict[bool, list[float]] = {True: [], False: []}
    for number in range(options.rounds):
        for keeps in (number % 2 == 0, number % 2 == 1):
            clock, busy = _timed(chats[keeps])
            times[keeps].append(clock)
            processor[keeps].append(busy)
    ratio = median(on / off for on, off in zip(times[True], times[False], strict=True))
    busy = median(on / off for on, off in zip(processor[True], processor[False], strict=True))
    print(
        f"{options.rounds} interleaved rounds of {options.tokens} tokens, median milliseconds a "
        f"token: {1e3 * median(times[False]):.2f} without, {1e3 * median(times[True]):.2f} with "
        f"what is kept: {ratio:.3f}x; of the device's processor {busy:.3f}x."
    )
    _steered(chats[True])
    return [f"keeping costs {ratio:.3f}x a token"] if ratio > _BAR else []


def _timed(chat: ChatSession) -> tuple[float, float]:
    """Seconds and the device's processor seconds a token of the answer that is made again."""
    reply = chat.answer()
    events = reply.events()
    next(events)
    began, busy = time.perf_counter(), time.process_time()
    for _ in events:
        pass
    count = reply.stats.tokens - 1
    return (time.perf_counter() - began) / count, (time.process_time() - busy) / count


def _steered(chat: ChatSession) -> None:
    tokens = chat.tokens
    began = time.perf_counter()
    for token in tokens:
        token.prepare()
    asked = (time.perf_counter() - began) / len(tokens)
    middle = len(tokens) // 2
    began = time.perf_counter()
    reply = chat.branch(middle, tokens[middle].alternatives[1].token)
    first = next(reply.events())
    took = time.perf_counter() - began
    step = reply.stats
    for _ in reply.events():
        pass
    print(
        f"Asking for a token's alternatives: {1e3 * asked:.2f} ms. A branch from token {middle}: "
        f"first token {first.text!r} after {1e3 * took:.1f} ms, {step.prompt_sent} row sent; its "
        f"other tokens take {1e3 * median(t.total for t in step.timings[1:]):.1f} ms each."
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", choices=["embedded", *SHAPES], default="embedded")
    parser.add_argument("--model", help="a checkpoint's folder in place of a shape")
    parser.add_argument("--dtype", choices=["bfloat16", "float32"], default="float32")
    parser.add_argument("--folder", help="keep checkpoint, weights and log here")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--prompt", default="Tell me what split inference is. ")
    parser.add_argument("--repeat", type=int, default=4, help="of the prompt")
    add_server_option(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
