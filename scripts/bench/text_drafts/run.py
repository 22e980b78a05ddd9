"""Passes and tokens a second of OpenAI's API with drafts and without, one session and many.

    python -m scripts.bench.text_drafts.run

Two servers with the embedded model, one with --text-drafts off, asked in turn. A predicted reply is
the one that the server without drafts has given.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import httpx

from scripts.bench.logged_server import LoggedServer, logged_server, server_folder
from scripts.bench.report import finish, heading, median, table
from scripts.bench.text_drafts.asked import said, workloads

_SECONDS = 120.0


@dataclass(slots=True)
class Told:
    """Of one workload at one server: tokens a second of each round, tokens and passes of all."""

    rates: list[float] = field(default_factory=list)
    tokens: int = 0
    saved: int = 0
    replies: list[Any] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=96, help="of a reply at most")
    parser.add_argument("--sessions", type=int, default=16, help="at the same time")
    parser.add_argument("--only", help="measure this workload alone")
    parser.add_argument("--folder", help="keep what the servers write here")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = server_folder(stack, options.folder)
        servers = [
            stack.enter_context(logged_server(folder / f"{drafts}.log", "--text-drafts", drafts))
            for drafts in ("off", "auto")
        ]
        asked = {name: [one] for name, one in workloads(options.tokens).items()}
        asked["predicted"] = asked["chat"]
        asked[f"{options.sessions} at a time"] = [
            said(f"Write {index} sentences about caches.", max_tokens=options.tokens)
            for index in range(2, options.sessions + 2)
        ]
        names = [options.only] if options.only else list(asked)
        found = {name: _measured(servers, name, asked[name], options.rounds) for name in names}
    print(heading("Drafts of the text APIs", "float32"))
    head = ("workload", "passes saved, off", "auto", "tokens/s, off", "auto", "of off")
    print(table(head, _rows(found)))
    finish([name for name, told in found.items() if told[0].replies != told[1].replies])


def _rows(found: dict[str, list[Told]]) -> list[tuple[str, ...]]:
    rows = []
    for name, (off, auto) in found.items():
        rates = [median(told.rates) for told in (off, auto)]
        saved = [f"{100 * told.saved / told.tokens:.0f}%" for told in (off, auto)]
        rows.append(
            (name, *saved, *(f"{rate:.1f}" for rate in rates), f"{rates[1] / rates[0]:.2f}")
        )
    return rows


def _measured(
    servers: list[LoggedServer], name: str, asked: list[dict[str, Any]], rounds: int
) -> list[Told]:
    told = [Told() for _ in servers]
    for _ in range(rounds):
        for server, one in zip(servers, told, strict=True):
            requests = [dict(request) for request in asked]
            if name == "predicted" and told[0].replies:
                text = told[0].replies[0][0]["content"]
                requests[0]["prediction"] = {"type": "content", "content": text}
            _round(server, requests, one)
    return told


def _round(server: LoggedServer, asked: list[dict[str, Any]], told: Told) -> None:
    before, begun = server.get("/v1/stats").json(), time.perf_counter()
    with ThreadPoolExecutor(len(asked)) as several:
        answers = list(several.map(lambda request: _answer(server, request), asked))
    took, after = time.perf_counter() - begun, server.get("/v1/stats").json()
    tokens = sum(answer["usage"]["completion_tokens"] for answer in answers)
    told.rates.append(tokens / took)
    told.tokens += tokens
    told.saved += after["drafts"]["passes_saved"] - before["drafts"]["passes_saved"]
    told.replies.append([answer["choices"][0]["message"] for answer in answers])
    for message in told.replies[-1]:
        # Ids of calls are drawn.
        for call in message.get("tool_calls", ()):
            call.pop("id")


def _answer(server: LoggedServer, request: dict[str, Any]) -> dict[str, Any]:
    url = server.url + "/v1/chat/completions"
    with httpx.Client(trust_env=False, timeout=_SECONDS) as client:
        answer: dict[str, Any] = client.post(url, json=request).raise_for_status().json()
    return answer


if __name__ == "__main__":
    main()
