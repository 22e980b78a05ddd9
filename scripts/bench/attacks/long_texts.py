"""Twenty-four long texts at a time of one principal beside another one's prompt of 20 kB.

The long ones are bodies of 4 MB to continue, and texts as long as may be tokenized; the other
principal asks how many tokens its prompt has, which takes nothing but the tokenizer.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

import httpx

from scripts.bench.attacks.figure import Figure
from scripts.bench.logged_server import LoggedServer, logged_server

_AT_ONCE = 24
_PROBES = 20
_TOKENS = {name: name * 4 for name in ("watch", "loud", "quiet")}
_SENTENCE = "Another sentence, and one more. "
_PROMPT = _SENTENCE * (20_000 // len(_SENTENCE))
_COUNT = "/api/extra/tokencount"
# One word cannot be cut; the others can.
_LONG = (
    ("/v1/completions", {"prompt": _SENTENCE * (4_000_000 // len(_SENTENCE))}),
    ("/v1/completions", {"prompt": "a" * 250_000}),
    ("/v1/completions", {"prompt": _SENTENCE * (250_000 // len(_SENTENCE))}),
    ("/api/v1/tokenize", {"text": _SENTENCE * (250_000 // len(_SENTENCE))}),
    (_COUNT, {"prompt": _SENTENCE * (250_000 // len(_SENTENCE))}),
)


def attack(folder: Path) -> list[Figure]:
    """Seconds until the prompt is counted, alone and beside the long texts."""
    file = folder / "tokens"
    file.touch(mode=0o600)
    file.write_text("".join(f"{name} {token}\n" for name, token in _TOKENS.items()))
    flags = ["--dtype", "float32", "--token-file", str(file)]
    with logged_server(folder / "long_texts.log", *flags, token=_TOKENS["watch"]) as server:
        alone = _waits(server)
        stop = threading.Event()
        loud = [threading.Thread(target=_send, args=(server, i, stop)) for i in range(_AT_ONCE)]
        for thread in loud:
            thread.start()
        try:
            beside = _waits(server)
        finally:
            stop.set()
            for thread in loud:
                thread.join()
    longest = max(beside)
    return [
        Figure("prompt of 20 kB alone, longest", f"{max(alone):.2f} s", "", held=True),
        Figure("beside 24 long texts, longest", f"{longest:.2f} s", "1 s", longest <= 1.0),
    ]


def _waits(server: LoggedServer) -> list[float]:
    waits = []
    with _client(server, "quiet") as client:
        for _ in range(_PROBES):
            begun = time.perf_counter()
            client.post(_COUNT, json={"prompt": _PROMPT}).raise_for_status()
            waits.append(time.perf_counter() - begun)
            time.sleep(0.2)
    return waits


def _send(server: LoggedServer, index: int, stop: threading.Event) -> None:
    """One long text after the other; what becomes of it is no matter."""
    with _client(server, "loud") as client:
        while not stop.is_set():
            path, values = _LONG[index % len(_LONG)]
            client.post(path, json={**values, "max_tokens": 1})
            index += 1


def _client(server: LoggedServer, name: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {_TOKENS[name]}"}
    return httpx.Client(base_url=server.url, headers=headers, trust_env=False, timeout=300)
