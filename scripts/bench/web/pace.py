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
import json
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from playwright.sync_api import BrowserContext, Page

from scripts.bench.report import heading, median, spread, table
from scripts.bench.workers import Worker
from scripts.listening import listening
from tests.web.browsing import PHONE, launched, profile
from tests.web.chat_page import ChatPage

PROMPT = "Tell me a long story."
_TOUCH: dict[str, Any] = {**PHONE, "viewport": {"width": 390, "height": 844}}
_PARTS = ("engine", "queue", "wire", "device")
# When the page's thread is handed each token, what the engine's worker says of it, and the reply at
# its end: asking the page meanwhile would take a part of the processor.
_WATCH = """
globalThis.tokens = [];
globalThis.made = () => new Promise((resolve) => (globalThis.tell = resolve));
globalThis.Worker = class extends Worker {
  constructor(...given) {
    super(...given);
    this.addEventListener('message', ({ data }) => {
      if (data.event?.timing && data.event.token >= 0) {
        tokens.push([performance.now(), data.event.timing]);
      }
      if (data.result?.tokensPerSecond !== undefined) tell(data.result.text);
    });
  }
};
"""


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
        bias = dict.fromkeys(_ends_of_text(url), -100.0)
        terminal = Worker("scripts.bench.client_worker", url, str(folder / "cache"))
        stack.callback(terminal.close)
        chat = stack.enter_context(_page(url, options, bias))
        _pair(terminal, chat, options.tokens, bias)
        pairs = [_pair(terminal, chat, options.tokens, bias) for _ in range(options.pairs)]
    return _report(options, pairs)


@contextlib.contextmanager
def _page(url: str, options: argparse.Namespace, bias: dict[int, float]) -> Iterator[ChatPage]:
    settings = {
        "temperature": 0,
        "max_tokens": options.tokens,
        "transport": options.carrier,
        "logit_bias": bias,
    }
    keep = f"localStorage.setItem('gatelink.settings', {json.dumps(json.dumps(settings))});"
    with _window(options.window) as context:
        chat = ChatPage(context.new_page(), touch=True)
        chat.page.add_init_script(keep + _WATCH)
        chat.page.goto(url)
        chat.download()
        yield chat


@contextlib.contextmanager
def _window(kind: str) -> Iterator[BrowserContext]:
    if kind == "private":
        with launched() as browser:
            yield browser.new_context(**_TOUCH)
        return
    with tempfile.TemporaryDirectory() as folder, profile(Path(folder), **_TOUCH) as context:
        yield context


def _ends_of_text(url: str) -> list[int]:
    ids: list[int] = httpx.get(f"{url}/weights/manifest.json", trust_env=False).json()[
        "eos_token_ids"
    ]
    return ids


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
    page = chat.page
    chat.press("New chat")
    page.get_by_role("textbox", name="Message").fill(PROMPT)
    page.evaluate("() => { tokens.length = 0; globalThis.reply = made(); }")
    chat.press("Send")
    text: str = page.evaluate("reply")
    chat.whole_reply(0)
    return _run(page, text)


def _run(page: Page, text: str) -> Run:
    tokens: list[tuple[float, dict[str, float]]] = page.evaluate("tokens")
    arrived = [at for at, _ in tokens]
    between = [later - at for at, later in pairwise(arrived)]
    timings = [timing for _, timing in tokens[1:]]
    parts = {name: 1e3 * median([timing[name] for timing in timings]) for name in _PARTS}
    parts["beyond"] = median(between) - 1e3 * median([timing["total"] for timing in timings])
    return Run(1e3 * len(between) / (arrived[-1] - arrived[0]), text, len(tokens), parts)


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
