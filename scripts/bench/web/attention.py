"""What attention costs a token of the page, interleaved with replies without it, on one server.

    python -m scripts.bench.web.attention [--pairs 6] [--tokens 64] [--context 2000]
        [--model FOLDER] [--web-root FOLDER] [--bar 1.10]

One real split-server and one page in Chromium (a phone's, 390x844), both without drafts, as
attention has none. In turns a new chat without and one with "Show what each token looked at" is
sent the same prompt of about ``--context`` tokens; replies are greedy, of the same length and must
be the same. Compared are the medians of the times between tokens, as the page's main thread
receives them. Ends with an error where the median of the pairs' ratios is above the bar.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from typing import NamedTuple

from scripts.bench.report import heading, median, spread, table
from scripts.bench.web.timed_page import asked, timed_page, unending
from scripts.listening import listening
from tests.web.chat_page import ChatPage

_SENTENCE = "The device holds the ends of the model, and the server its middle. "
_TOKENS_OF_A_SENTENCE = 16


class Run(NamedTuple):
    """One reply; ``each``: milliseconds between two of its tokens, the median."""

    each: float
    text: str
    prompt_tokens: int


def main() -> int:
    options = _options()
    model = [] if options.model is None else ["--model", options.model]
    root = [] if options.web_root is None else ["--web-root", options.web_root]
    with contextlib.ExitStack() as stack:
        url, _ = stack.enter_context(listening("serve", *model, *root))
        settings = {"temperature": 0, "max_tokens": options.tokens, "drafts": "off"}
        page = timed_page(url, {**settings, "logit_bias": unending(url)})
        chat = stack.enter_context(page)
        prompt = _SENTENCE * max(1, options.context // _TOKENS_OF_A_SENTENCE) + "Go on."
        _pair(chat, prompt)
        pairs = [_pair(chat, prompt) for _ in range(options.pairs)]
    return _report(options, pairs)


def _pair(chat: ChatPage, prompt: str) -> tuple[Run, Run]:
    """A reply without attention, then one with it."""
    without, looked = _reply(chat, prompt, False), _reply(chat, prompt, True)
    if without.text != looked.text:
        raise SystemExit(f"not the same reply: {without} and {looked}")
    return without, looked


def _reply(chat: ChatPage, prompt: str, attention: bool) -> Run:
    page = chat.page
    chat.press("New chat")
    if attention:
        chat.press("Settings")
        page.get_by_label("Show what each token looked at").check()
        page.keyboard.press("Escape")
    reply = asked(chat, prompt)
    if attention and page.get_by_role("button", name="What it looked at").count() != 1:
        raise SystemExit("the reply came without attention")
    return Run(median(reply.between), reply.result["text"], reply.result["promptTokens"])


def _report(options: argparse.Namespace, pairs: list[tuple[Run, Run]]) -> int:
    ratios = [looked.each / without.each for without, looked in pairs]
    rows = [
        ["without", spread([without.each for without, _ in pairs], "ms"), ""],
        ["with attention", spread([looked.each for _, looked in pairs], "ms"), ""],
        ["with / without, per pair", spread(ratios, "x"), f"{options.bar:.2f}x"],
    ]
    print(heading("Attention in the page, time of a token", options.model or "embedded model"))
    print(f"{pairs[0][0].prompt_tokens} tokens before the reply, {len(pairs)} pairs.\n")
    print(table(["", "median (minimum to maximum)", "bar"], rows))
    return int(median(ratios) > options.bar)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--context", type=int, default=2000)
    parser.add_argument("--model", default=None)
    parser.add_argument("--web-root", default=None)
    parser.add_argument("--bar", type=float, default=1.10)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
