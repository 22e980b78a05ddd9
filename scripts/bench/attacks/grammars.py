"""JSON schemas that are small and would cost minutes and gigabytes, in thousands.

One principal sends them, of many kinds by a seeded generator; another one measures how long its
step of 512 rows takes. At last the server is told to end while schemas of clients that hung up are
at work.
"""

from __future__ import annotations

import json
import random
import secrets
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import psutil

from scripts.bench.attacks.figure import Figure
from scripts.bench.inputs import embedding_rows
from scripts.bench.logged_server import LoggedServer, start_server
from scripts.bench.shapes import EMBEDDED
from split_client.api import SplitClient
from split_wire.codec import decode_server_message, encode_message
from split_wire.digest import PrefixChain
from split_wire.messages import CONTENT_TYPE, Close, Open, Opened, Result, Step
from split_wire.tensor import Tensor

_SCHEMAS: Final = 10_000
_CLIENTS: Final = 8
_LEFT: Final = 8
_ROWS: Final = 512
_STEPS: Final = 20
_GRACE: Final = 5.0
_SLOWEST: Final = 2.0
_MOST_MORE: Final = 50 << 20
# Of the step's time alone, and at least what a machine of two cores needs to be told apart.
_STEP_FACTOR: Final = 3.0
_STEP_SECONDS: Final = 0.5
_PRIMES: Final = (79, 83, 89, 97, 101, 103, 107, 109, 113, 127)

Schema = dict[str, Any]


def attack(folder: Path) -> list[Figure]:
    """Raises RuntimeError where the server does not start."""
    tokens = {name: secrets.token_hex(16) for name in ("hostile", "other")}
    file = folder / "tokens"
    file.touch(mode=0o600)
    file.write_text("".join(f"{name} {token}\n" for name, token in tokens.items()))
    flags = ["--model", str(EMBEDDED), "--dtype", "float32", "--token-file", str(file)]
    flags += ["--shutdown-grace", str(_GRACE)]
    server = start_server(folder / "server.log", *flags, token=tokens["other"])
    try:
        return _attacked(server, tokens, folder / "cache")
    finally:
        server.process.kill()
        server.process.wait()


def _attacked(server: LoggedServer, tokens: dict[str, str], cache: Path) -> list[Figure]:
    other = _Steps(server.url, tokens["other"], cache)
    hostile = _Hostile(server.url, tokens["hostile"])
    # The grammars' process, the allocator's arenas, and the first passes.
    hostile.send(_CLIENTS * 8, "first")
    alone = other.slowest(_STEPS)
    before = _memory(server)
    left = threading.Event()
    leaving = threading.Thread(target=hostile.leave_until, args=(left,))
    leaving.start()
    beside = other.slowest(_STEPS)
    left.set()
    leaving.join()
    answered = hostile.send(_SCHEMAS, "all")
    more = _memory(server) - before
    hostile.leave(_LEFT)
    ended = _ended(server)
    slowest = max(answered)
    step_bar = max(_STEP_SECONDS, _STEP_FACTOR * alone)
    return [
        Figure(
            f"slowest answer of {len(answered):,}",
            f"{slowest:.2f} s",
            f"{_SLOWEST:g} s",
            slowest <= _SLOWEST,
        ),
        Figure(
            "memory of the server and its processes, beyond before",
            f"{more / 2**20:.0f} MiB",
            f"{_MOST_MORE >> 20} MiB",
            more <= _MOST_MORE,
        ),
        Figure(
            f"another principal's slowest step of {_ROWS} rows (alone {alone:.2f} s)",
            f"{beside:.2f} s",
            f"{step_bar:.2f} s",
            beside <= step_bar,
        ),
        Figure("SIGTERM to the end", f"{ended:.1f} s", f"{_GRACE:g} s", ended <= _GRACE),
    ]


def _memory(server: LoggedServer) -> int:
    """Private bytes of the server beside its K/V buffers, and of every process below it."""
    own = psutil.Process(server.process.pid)
    sizes = [own.memory_full_info().uss]
    for child in own.children(recursive=True):
        with suppress(psutil.Error):
            sizes.append(child.memory_full_info().uss)
    return sum(sizes) - server.cache_bytes()


def _ended(server: LoggedServer) -> float:
    began = time.monotonic()
    server.process.terminate()
    server.process.wait(60)
    return time.monotonic() - began


class _Hostile:
    """Sends schemas and measures their answers."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}"}

    def send(self, count: int, seed: str) -> list[float]:
        """Seconds until each of ``count`` answers, from a few clients at once."""
        with ThreadPoolExecutor(_CLIENTS) as pool:
            shares = pool.map(
                lambda number: self._sent(count // _CLIENTS, f"{seed}/{number}"), range(_CLIENTS)
            )
            return [seconds for share in shares for seconds in share]

    def leave(self, count: int) -> None:
        """Post costly schemas and hang up."""
        generator = random.Random("left")
        for _ in range(count):
            self._left(_choices(generator))

    def leave_until(self, done: threading.Event) -> None:
        """Keep as many costly schemas as one may have at work, without a reader."""
        generator = random.Random("leaving")
        while not done.wait(0.05):
            self._left(_multiple(generator))
            self._left(_choices(generator))

    def _sent(self, count: int, seed: str) -> list[float]:
        generator, seconds = random.Random(seed), list[float]()
        kinds, weights = zip(*((make, weight) for weight, make in _KINDS), strict=True)
        with httpx.Client(
            base_url=self._url, headers=self._headers, trust_env=False, timeout=60
        ) as client:
            for _ in range(count):
                [make] = generator.choices(kinds, weights)
                body = _body(make(generator))
                began = time.monotonic()
                answer = client.post("/v1/completions", content=body)
                seconds.append(time.monotonic() - began)
                if answer.status_code >= 500 and answer.status_code != 503:
                    raise RuntimeError(f"status {answer.status_code}: {answer.text[:200]}")
        return seconds

    def _left(self, schema: Schema) -> None:
        address, body = urlsplit(self._url), _body(schema)
        head = (
            f"POST /v1/completions HTTP/1.1\r\nHost: {address.netloc}\r\n"
            f"Authorization: {self._headers['Authorization']}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection((address.hostname or "", address.port or 0), 10) as sender:
            sender.sendall(head.encode() + body)


def _body(schema: Schema) -> bytes:
    form = {"type": "json_schema", "json_schema": {"name": "it", "schema": schema}}
    values = {"prompt": [5, 6], "max_tokens": 4, "response_format": form}
    return json.dumps(values).encode()


def _multiple(generator: random.Random) -> Schema:
    return {"type": "integer", "multipleOf": generator.randrange(10**4, 10**9)}


def _common(generator: random.Random) -> Schema:
    numbers = generator.sample(_PRIMES, generator.randint(2, 4))
    return {"type": "integer", "allOf": [{"multipleOf": number} for number in numbers]}


def _choices(generator: random.Random) -> Schema:
    """Multiples that only the library can add up."""
    numbers = [generator.randrange(5_000, 10_000) for _ in range(3)]
    return {"type": "integer", "allOf": [{"anyOf": [{"multipleOf": n}]} for n in numbers]}


def _pattern(generator: random.Random) -> Schema:
    first, second = generator.randrange(1, 400), generator.randrange(1, 400)
    forms = ("^(a{{0,{0}}}b{{0,{1}}})*$", ".*[ab].{{{0}}}c.{{{1}}}$", "^(x+x+)+y{{{0},{1}}}$")
    return {"type": "string", "pattern": generator.choice(forms).format(first, first + second)}


def _length(generator: random.Random) -> Schema:
    least = generator.randrange(10**6)
    return {"type": "array", "items": {"type": "string", "minLength": least}, "minItems": least}


def _names(generator: random.Random) -> Schema:
    count, salt = generator.randrange(10, 400), generator.randrange(10**6)
    return {"properties": {f"{salt}{n}": {"enum": [n, str(n)]} for n in range(count)}}


def _references(generator: random.Random) -> Schema:
    count, salt = generator.randrange(5, 60), generator.randrange(10**6)
    defs: Schema = {"n0": {"type": "integer", "minimum": salt}}
    for n in range(1, count):
        below = {"$ref": f"#/$defs/n{n - 1}"}
        defs[f"n{n}"] = {"anyOf": [below, {"type": "array", "items": below}]}
    return {"$ref": f"#/$defs/n{count - 1}", "$defs": defs}


_KINDS: Final[tuple[tuple[float, Callable[[random.Random], Schema]], ...]] = (
    (30, _multiple),
    (30, _common),
    (12, _pattern),
    (12, _length),
    (8, _names),
    (7.7, _references),
    (0.3, _choices),
)


class _Steps:
    """Whole steps of a new session each."""

    def __init__(self, url: str, token: str, cache: Path) -> None:
        with SplitClient(url, token=token, cache=cache) as client:
            self._manifest, width = client.manifest.digest, client.manifest.hidden_size
        self._url = f"{url}/api/v1/split/forward"
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": CONTENT_TYPE}
        self._rows = Tensor.from_f32(embedding_rows(_ROWS, width, 0), "f32")

    def slowest(self, count: int) -> float:
        """Seconds of the slowest of ``count`` steps."""
        with httpx.Client(trust_env=False, timeout=60, headers=self._headers) as client:
            return max(self._seconds(client) for _ in range(count))

    def _seconds(self, client: httpx.Client) -> float:
        opened = self._asked(client, encode_message(Open(self._manifest)))
        assert isinstance(opened, Opened)
        chain = PrefixChain(self._manifest)
        step = encode_message(Step(opened.session, 1, 0, chain.at(0), self._rows, rows="last"))
        began = time.monotonic()
        result = self._asked(client, step)
        seconds = time.monotonic() - began
        assert isinstance(result, Result), result
        self._asked(client, encode_message(Close(opened.session)))
        return seconds

    def _asked(self, client: httpx.Client, frame: bytes) -> object:
        answer = client.post(self._url, content=frame)
        return decode_server_message(answer.content, 1 << 22)
