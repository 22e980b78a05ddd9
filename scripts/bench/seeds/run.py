"""Replies to the same request with the same seed, by dtype and by what the server holds of it.

    python -m scripts.bench.seeds.run --model FOLDER [--dtype bfloat16] [--prompts 24]

One server, one request at a time. Each request is sent with nothing of it cached, again while its
session is there, once more when other chats have ended that session, so that its prompt comes from
what is kept; and twice with `cache` `off`. Of each it tells how many replies are another one than
the first; the last column compares the two without a cache with each other.
"""

from __future__ import annotations

import argparse
import contextlib
import secrets
from collections import Counter
from typing import Any

import httpx

from scripts.bench.logged_server import LoggedServer, logged_server, server_folder
from scripts.bench.report import finish, heading, table
from scripts.demo_model.corpus.holdout import blind_questions

_SECONDS = 120.0
# One more than the sessions that are kept while idle.
_LEAST = 17
_SAMPLING: dict[str, dict[str, Any]] = {
    "temperature 1": {"temperature": 1},
    "and min_p, penalty": {"temperature": 1, "min_p": 0.05, "repetition_penalty": 1.2},
}
_CASES = ("again", "ended, then again", "without a cache")
# A chat with an earlier turn, which most prompts have, of a few hundred tokens.
_BEFORE = (
    "Split inference divides a language model between two machines. The device keeps tokenizer, "
    "embedding, head and sampler; the server keeps the layers and the caches. "
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", help="a folder; the embedded model without it")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--prompts", type=int, default=24, help=f"at least {_LEAST}")
    parser.add_argument("--tokens", type=int, default=48, help="of a reply at most")
    parser.add_argument("--folder", help="keep what the server writes here")
    options = parser.parse_args()
    if options.prompts < _LEAST:
        parser.error(f"--prompts has to be at least {_LEAST}")
    model = ["--model", options.model] if options.model else []
    with contextlib.ExitStack() as stack:
        folder = server_folder(stack, options.folder)
        arguments = [*model, "--dtype", options.dtype]
        server = stack.enter_context(logged_server(folder / "server.log", *arguments))
        asked = _requests(options.prompts, options.tokens)
        counts = {name: _compared(server, asked, more) for name, more in _SAMPLING.items()}
    print(heading("The same seed", options.dtype))
    rows = [
        (name, len(asked), *(counted[case] for case in _CASES)) for name, counted in counts.items()
    ]
    print(table(("sampling", "requests", *_CASES), rows))
    finish([] if options.dtype != "float32" else [n for n, c in counts.items() if c.total()])


def _requests(prompts: int, tokens: int) -> list[dict[str, Any]]:
    """Short and long ones in turn, each with a seed of its own."""
    made = []
    for index in range(prompts):
        questions = blind_questions()
        question = questions[index % len(questions)].turns[0]
        before = _BEFORE * (index % 4 * 2)
        messages = [{"role": "user", "content": f"{before}{question} ({index})"}]
        made.append({"messages": messages, "seed": 1000 + index, "max_tokens": tokens})
    return made


def _compared(
    server: LoggedServer, asked: list[dict[str, Any]], sampling: dict[str, Any]
) -> Counter[str]:
    """How many replies are another one than the first, by case."""
    found: Counter[str] = Counter()
    salted = [one | sampling | {"cache_salt": secrets.token_hex(8)} for one in asked]
    first = []
    for one in salted:
        first.append(_reply(server, one))
        found["again"] += _reply(server, one) != first[-1]
    # More sessions have come since than are kept while idle.
    for one, reply in zip(salted, first, strict=True):
        found["ended, then again"] += _reply(server, one) != reply
    for one in salted:
        apart = {_reply(server, one | {"cache": "off"}) for _ in range(2)}
        found["without a cache"] += len(apart) - 1
    return found


def _reply(server: LoggedServer, request: dict[str, Any]) -> str:
    url = server.url + "/v1/chat/completions"
    answer = httpx.post(url, json=request, trust_env=False, timeout=_SECONDS).raise_for_status()
    return str(answer.json()["choices"][0]["message"]["content"])


if __name__ == "__main__":
    main()
