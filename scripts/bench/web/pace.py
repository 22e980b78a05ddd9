"""Decode speed of the page beside that of the terminal's client, interleaved, on one server.

    python -m scripts.bench.web.pace [--pairs 8] [--tokens 160] [--carrier websocket]
        [--web-root FOLDER] [--model FOLDER] [--bar 0.85] [--window profile]

One real split-server, one device client and one page in Chromium (a phone's, 390x844), each in its
own processes; one of the two decodes at a time, in turns, greedily, with the same prompt, to the
same length (a bias keeps replies from ending before), and their texts must be the same. The window
is one of a profile on the disk, or with "--window private" one whose files are in the memory of
another process, which is asked for each row. Speed is
tokens per second after the first: the terminal's as its reply tells, the page's as its main thread
receives the tokens. "Where the time goes" is of the page's tokens, medians in ms: what the server
reports, the rest of the exchange, the engine worker's own part, and between two tokens beyond
those: posting and whatever kept the worker. Ends with an error where the median of the pairs'
ratios is below the bar.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from scripts.bench.report import heading, median, spread, table
from scripts.bench.web.timed_page import asked, timed_page, unending
from scripts.bench.workers import Worker
from scripts.listening import listening
from tests.web.chat_page import ChatPage

PROMPT = "Tell me a long story."
_PARTS = ("engine", "queue", "wire", "device")


class Run(NamedTuple):
    """One reply; ``parts``: milliseconds of a token, medians, by name."""

    speed: float
    text: str
    tokens: int
    parts: dict[str, float]


def main() -> int:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        model = [] if options.model is None else ["--model", options.model]
        root = [] if options.web_root is None else ["--web-root", options.web_root]
        url, _ = stack.enter_context(listening("serve", *model, *root))
        bias = unending(url)
        terminal = Worker("scripts.bench.client_worker", url, str(folder / "cache"))
        stack.callback(terminal.close)
        settings: dict[str, Any] = {
            "temperature": 0,
            "max_tokens": options.tokens,
            "transport": options.carrier,
        }
        settings["logit_bias"] = bias
        chat = stack.enter_context(timed_page(url, settings, private=options.window == "private"))
        _pair(terminal, chat, options.tokens, bias)
        pairs = [_pair(terminal, chat, options.tokens, bias) for _ in range(options.pairs)]
    return _report(options, pairs)


def _pair(terminal: Worker, chat: ChatPage, tokens: int, bias: dict[int, float]) -> tuple[Run, Run]:
    """The terminal's reply, then the page's."""
    told = terminal.ask(op="chat", prompt=PROMPT, tokens=tokens, bias=[*bias.items()])
    parts = {name: 1e3 * told[name] for name in _PARTS}
    mine = Run((told["tokens"] - 1) / told["seconds"], told["text"], told["tokens"], parts)
    theirs = _reply(chat)
    if (theirs.text, theirs.tokens) != (mine.text, mine.tokens):
        raise SystemExit(f"not the same reply: {mine} and {theirs}")
    return mine, theirs


def _reply(chat: ChatPage) -> Run:
    chat.press("New chat")
    reply = asked(chat, PROMPT)
    between, arrived, timings = reply.between, reply.arrived, reply.timings[1:]
    parts = {name: 1e3 * median([timing[name] for timing in timings]) for name in _PARTS}
    parts["beyond"] = median(between) - 1e3 * median([timing["total"] for timing in timings])
    speed = 1e3 * len(between) / (arrived[-1] - arrived[0])
    return Run(speed, reply.result["text"], len(arrived), parts)


def _report(options: argparse.Namespace, pairs: list[tuple[Run, Run]]) -> int:
    ratios = [page.speed / terminal.speed for terminal, page in pairs]
    rows = [
        ["terminal", spread([terminal.speed for terminal, _ in pairs], "tokens/s"), ""],
        ["page", spread([page.speed for _, page in pairs], "tokens/s"), ""],
        ["page / terminal, per pair", spread(ratios, "x"), f"{options.bar:g}x"],
    ]
    parts = [
        [
            name,
            f"{median([terminal.parts.get(name, 0.0) for terminal, _ in pairs]):.2f}",
            f"{median([page.parts[name] for _, page in pairs]):.2f}",
        ]
        for name in (*_PARTS, "beyond")
    ]
    model = options.model or "embedded model"
    setting = f"{model}, {options.carrier}, window: {options.window}"
    print(heading("Decode speed of the page and the terminal", setting))
    print(f"{pairs[0][0].tokens} tokens, {len(pairs)} interleaved pairs.\n")
    print(table(["", "median (minimum to maximum)", "bar"], rows))
    print("\nWhere the time goes, ms of a token:\n")
    print(table(["", "terminal", "page"], parts))
    return int(median(ratios) < options.bar)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=160)
    parser.add_argument("--carrier", choices=("websocket", "http"), default="websocket")
    parser.add_argument("--model", default=None)
    parser.add_argument("--web-root", default=None)
    parser.add_argument("--window", choices=("profile", "private"), default="profile")
    parser.add_argument("--bar", type=float, default=0.85)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
