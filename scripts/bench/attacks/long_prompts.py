"""Texts of megabytes to every endpoint that takes text, while memory is full.

The kernel limits the server's private memory to 1.5 GB (RLIMIT_DATA), and one principal's caches
take what the plan leaves. Another principal then sends texts as long as bodies may be: one word,
words, ideographs, line ends, control tokens, characters in parts. The server must live.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import resource
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from scripts.bench.attacks.figure import Figure
from scripts.bench.logged_server import LoggedServer, logged_server
from scripts.bench.shapes import SHAPES, random_checkpoint

_LIMIT = 1_500_000_000
_REQUESTS = 1000
# Of them this many by default, each path with each text.
_FEW = 198
_AT_ONCE = 8
_FULL = 64
_FILLED, _HOSTILE = "filled", "hostile"
_TOKENS = {name: name * 4 for name in (_FILLED, _HOSTILE)}
# A large cache beside a small model: few tokens fill the memory.
_SHAPE = {
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
    "head_dim": 64,
    "vocab_size": 2048,
    "max_position_embeddings": 32_768,
    "tie_word_embeddings": True,
}
_PARTS = ("a", "Hello, you. ", "東京", "\n", "<|im_start|>", "e\u0301", " ", "\U0001f600", "9.")
_OPENAI = ("/v1/completions", "/v1/chat/completions", "/v1/warm")
_KOBOLD = (
    "/api/v1/generate",
    "/api/extra/generate/stream",
    "/api/v1/tokenize",
    "/api/extra/tokencount",
    "/api/v1/detokenize",
    "/api/v1/generate/stream",
    "/api/extra/generate/stream/ws",
)


def attack(folder: Path) -> list[Figure]:
    """Deaths, answers that are no refusals, and faults in the log."""
    SHAPES["long-prompts"] = _SHAPE
    model = random_checkpoint("long-prompts", folder, "float32")
    died = False
    try:
        with _limited_server(folder, model) as server:
            _fill(server)
            answers = _attacked(server)
            died, faults = server.process.poll() is not None, server.faults()
    except RuntimeError:
        # It has not ended in order, because it had ended before.
        if not died:
            raise
    sent, told = answers.total(), ", ".join(f"{n} x {code}" for code, n in answers.items())
    return [
        Figure("processes that died", str(int(died)), "0", not died),
        Figure(f"of {sent} texts, unanswered", str(answers[0]), "0", not answers[0]),
        Figure("answers by status", told, "", held=True),
        Figure("lines of errors in the log", str(len(faults)), "0", not faults),
    ]


@contextlib.contextmanager
def _limited_server(folder: Path, model: Path) -> Iterator[LoggedServer]:
    file = folder / "tokens"
    file.touch(mode=0o600)
    file.write_text("".join(f"{name} {token}\n" for name, token in _TOKENS.items()))
    flags = ["--model", str(model), "--dtype", "float32", "--token-file", str(file)]
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    # Inherited by the server; what this process needs meanwhile is far less.
    resource.setrlimit(resource.RLIMIT_DATA, (_LIMIT, hard))
    with contextlib.ExitStack() as stack:
        try:
            server = stack.enter_context(
                logged_server(folder / "long_prompts.log", *flags, token=_TOKENS[_FILLED])
            )
        finally:
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
        yield server


def _fill(server: LoggedServer) -> None:
    """Prompts of one principal, until no cache of any use fits."""
    for first in itertools.count(300):
        room = int(server.memory()["largest_prompt"])
        if room < _FULL or first > 420:
            return
        prompt = [first, *([400] * min(room - 8, 2000))]
        body = {"prompt": prompt, "max_tokens": 1}
        with _client(server, _FILLED) as client:
            client.post("/v1/completions", json=body).raise_for_status()


def _attacked(server: LoggedServer) -> Counter[int]:
    """Answers by status, 0: none."""
    exhaustive = bool(os.environ.get("GATELINK_EXHAUSTIVE"))
    count = _REQUESTS * len(_OPENAI + _KOBOLD) if exhaustive else _FEW
    cases = list(itertools.islice(itertools.cycle(_cases()), count))
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        return Counter(threads.map(lambda case: _status(server, *case), cases))


def _cases() -> Iterator[tuple[str, str]]:
    """Paths and bodies. Each path meets each text."""
    for part in _PARTS:
        long, short = _longest(part, 4_150_000), _longest(part, 1_700_000)
        for path in _OPENAI:
            content = [{"role": "user", "content": long}]
            values = {"messages": content} if "chat" in path else {"prompt": long}
            yield path, json.dumps(values, ensure_ascii=False)
        for path in _KOBOLD:
            values: dict[str, Any] = {"text" if path.endswith("/tokenize") else "prompt": short}
            if "detokenize" in path:
                values = {"token_ids": [300] * 250_000}
            yield path, json.dumps(values, ensure_ascii=False)
        yield (
            "/api/extra/tokencount",
            json.dumps({"prompt": part * (500_000 // len(part.encode()))}),
        )


def _longest(part: str, size: int) -> str:
    """``part`` repeated to a text that a body of ``size`` bytes holds."""
    return part * (size // len(json.dumps(part, ensure_ascii=False).encode()))


def _status(server: LoggedServer, path: str, body: str) -> int:
    try:
        if path.endswith(("/ws", "v1/generate/stream")):
            return _told(server, path, body)
        with _client(server, _HOSTILE) as client:
            return client.post(path, content=body.encode()).status_code
    except (httpx.HTTPError, WebSocketException, OSError):
        return 0


def _told(server: LoggedServer, path: str, body: str) -> int:
    """The status of a message on a socket."""
    headers = {"Authorization": f"Bearer {_TOKENS[_HOSTILE]}"}
    url = server.url.replace("http", "ws", 1) + path
    with connect(url, additional_headers=headers, max_size=None, proxy=None) as socket:
        socket.send(body)
        told: dict[str, Any] = json.loads(socket.recv(timeout=60))
    return 500 if told.get("error_code") == "INTERNAL" else 413


def _client(server: LoggedServer, name: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {_TOKENS[name]}"}
    return httpx.Client(base_url=server.url, headers=headers, trust_env=False, timeout=60)
