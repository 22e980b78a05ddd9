"""Time to the first token over the turns of a chat, against sending the whole conversation again.

A real split-server and a device client; each turn is measured in the running chat and, right after,
over a session with nothing cached.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from pathlib import Path
from typing import Any

from scripts.bench import options as common
from scripts.bench.report import heading, median, spread, table
from scripts.bench.shapes import served_checkpoint
from scripts.bench.workers import Worker
from scripts.listening import listening

_WORDS = (
    "the",
    "server",
    "keeps",
    "one",
    "cache",
    "and",
    "the",
    "device",
    "sends",
    "what",
    "is",
    "new",
)


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        path = served_checkpoint(options.shape, folder, options.dtype)
        url, _ = stack.enter_context(
            listening("serve", "--model", str(path), "--dtype", options.dtype)
        )
        client = Worker("scripts.bench.client_worker", url, str(folder / "cache"))
        stack.callback(client.close)
        text = _text(client, options.turn_tokens)
        client.ask(op="turn", text=text, tokens=options.reply)
        rounds = [_chat(client, text, options) for _ in range(options.rounds)]
    _report(options, rounds)


def _text(client: Worker, tokens: int) -> str:
    """A message of about ``tokens`` tokens with its place in the chat template."""
    text = ""
    words = 0
    while len(client.ask(op="prepare", prompt=text)["ids"]) < tokens - 10:
        text += _WORDS[words % len(_WORDS)] + " "
        words += 1
    return text


def _chat(client: Worker, text: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    client.ask(op="new_chat")
    turns = [client.ask(op="turn", text=text, tokens=options.reply) for _ in range(options.turns)]
    for turn in turns:
        if turn["kept"]["prompt_tokens"] != turn["fresh"]["prompt_sent"]:
            raise SystemExit("the two ways did not answer the same conversation")
        if options.dtype == "float32" and turn["kept"]["first"] != turn["fresh"]["first"]:
            raise SystemExit("the two ways gave different first tokens")
    return turns


def _report(options: argparse.Namespace, rounds: list[list[dict[str, Any]]]) -> None:
    rows = []
    for number in range(options.turns):
        turns = [chat[number] for chat in rounds]
        kept = [turn["kept"]["ttft_ms"] for turn in turns]
        fresh = [turn["fresh"]["ttft_ms"] for turn in turns]
        rows.append(
            [
                number + 1,
                turns[0]["kept"]["prompt_tokens"],
                turns[0]["kept"]["prompt_sent"],
                turns[0]["kept"]["bytes"],
                spread(kept, "ms", 0),
                spread(fresh, "ms", 0),
                f"{median([f / k for f, k in zip(fresh, kept, strict=True)]):.2f}x",
            ]
        )
    title = (
        f"Time to first token, shape {options.shape}: {options.turns} turns, {len(rounds)} chats"
    )
    print(heading(title, options.dtype))
    head = ["turn", "prompt", "sent", "frame bytes", "TTFT", "everything sent again", "ratio"]
    print(table(head, rows))
    growth = [chat[-1]["kept"]["ttft_ms"] / chat[0]["kept"]["ttft_ms"] for chat in rounds]
    print(f"Last turn over first: {spread(growth, 'x')}.")


def _options() -> argparse.Namespace:
    parser = common.parser(__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=8)
    parser.add_argument("--turn-tokens", type=int, default=140)
    parser.add_argument("--reply", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    main()
