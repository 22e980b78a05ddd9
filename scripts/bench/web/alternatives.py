"""What keeping the states of tokens costs the page, and a token that is chosen.

    python -m scripts.bench.web.alternatives [--rounds 8] [--tokens 128] [--model FOLDER]

One real split-server, in a process of its own, and one page in Chromium (a phone's, 390x844),
without drafts; interleaved greedy replies to the same message of a page that keeps what tokens were
chosen from and of one whose requests are sent on without the name that has them kept. Times are
those between tokens as the page's main thread receives them; processor times are those of the
page's process with its workers for the whole reply, which other programs disturb less. Then a
token in the middle of the last reply is looked at in the page's sheet, and its second alternative
chosen. Ends with an error where keeping costs more than 1.05x a token of the processor's time
(median of the rounds), or more than one row is sent.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from typing import NamedTuple

from scripts.bench.report import heading, median, spread, table
from scripts.bench.web.timed_page import asked, expect_reply, timed_page, timed_reply, unending
from scripts.listening import listening
from tests.web.chat_page import ChatPage

PROMPT = "Tell me a long story."
BAR = 1.05
# What is asked of the engine, when, and how long it takes to answer; whether it keeps what tokens
# were chosen from.
_WATCH = """
globalThis.asked = 0;
globalThis.took = [];
globalThis.keeps = true;
globalThis.Worker = class extends Worker {
  constructor(...given) {
    super(...given);
    this.asked = new Map();
    this.addEventListener('message', ({ data }) => {
      if (this.asked.has(data.id)) took.push(performance.now() - this.asked.get(data.id));
      this.asked.delete(data.id);
    });
  }
  postMessage(message, ...more) {
    if (message.method === 'reply') {
      globalThis.asked = performance.now();
      if (!keeps) delete message.params.answer;
    }
    if (message.method === 'alternatives') this.asked.set(message.id, performance.now());
    super.postMessage(message, ...more);
  }
};
"""


class Cost(NamedTuple):
    """Milliseconds a token of one reply."""

    clock: float
    processor: float


def main() -> int:
    options = _options()
    with contextlib.ExitStack() as stack:
        model = [] if options.model is None else ["--model", options.model]
        url, _ = stack.enter_context(listening("serve", *model))
        settings = {"temperature": 0, "max_tokens": options.tokens, "drafts": "off"}
        settings |= {"server_cache": "off", "logit_bias": unending(url)}
        chat = stack.enter_context(timed_page(url, settings, _WATCH))
        for keeps in (True, False):
            _reply(chat, keeps)
        pairs = [_pair(chat, number % 2 == 0) for number in range(options.rounds)]
        _reply(chat, keeps=True)
        branch = _branch(chat, options.tokens // 2)
    return _report(options, pairs, branch)


def _pair(chat: ChatPage, keeping_first: bool) -> tuple[Cost, Cost]:
    """Without, and with what is kept."""
    times = {keeps: _reply(chat, keeps) for keeps in (keeping_first, not keeping_first)}
    return times[False], times[True]


def _reply(chat: ChatPage, keeps: bool) -> Cost:
    chat.press("New chat")
    chat.page.evaluate("(kept) => { keeps = kept; }", keeps)
    busy = _processor(chat)
    arrived = asked(chat, PROMPT).arrived
    busy = _processor(chat) - busy
    return Cost((arrived[-1] - arrived[0]) / (len(arrived) - 1), busy / len(arrived))


def _processor(chat: ChatPage) -> float:
    """Milliseconds of the processor that pages have taken so far, with their workers."""
    browser = chat.page.context.browser
    if browser is None:
        raise RuntimeError("a page without a browser")
    session = browser.new_browser_cdp_session()
    told = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return 1e3 * float(sum(each["cpuTime"] for each in told if each["type"] == "renderer"))


def _branch(chat: ChatPage, middle: int) -> dict[str, float]:
    """Milliseconds until the alternatives and the first new token are there, and the rows sent."""
    page = chat.page
    chat.press("How likely it was")
    page.locator(f".tokens [data-at='{middle}']").tap()
    other = page.locator(".alternatives button").nth(1)
    other.wait_for()
    expect_reply(chat)
    other.tap()
    reply = timed_reply(chat)
    return {
        "alternatives": page.evaluate("took.at(-1)"),
        "first": reply.arrived[0] - page.evaluate("asked"),
        "later": median(reply.between),
        "sent": reply.result["promptSent"],
    }


def _report(
    options: argparse.Namespace, pairs: list[tuple[Cost, Cost]], branch: dict[str, float]
) -> int:
    ratios = [kept.processor / plain.processor for plain, kept in pairs]
    clocks = [kept.clock / plain.clock for plain, kept in pairs]
    print(heading("Alternatives on the page", options.model or "embedded model"))
    rows = [
        ["a token without", spread([plain.clock for plain, _ in pairs], "ms"), ""],
        ["with what is kept", spread([kept.clock for _, kept in pairs], "ms"), ""],
        ["with / without, per pair", spread(clocks, "x"), ""],
        ["processor without", spread([plain.processor for plain, _ in pairs], "ms"), ""],
        ["with what is kept", spread([kept.processor for _, kept in pairs], "ms"), ""],
        ["with / without, per pair", spread(ratios, "x"), f"{BAR:g}x"],
        ["alternatives of one token, when asked", f"{branch['alternatives']:.1f} ms", ""],
        ["first token of a branch", f"{branch['first']:.1f} ms", ""],
        ["its other tokens", f"{branch['later']:.1f} ms", ""],
        ["rows sent for it", f"{branch['sent']:.0f}", "1"],
    ]
    print(table([f"{options.tokens} tokens, {options.rounds} rounds", "", "bar"], rows))
    return int(median(ratios) > BAR or branch["sent"] != 1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--model", default=None)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
