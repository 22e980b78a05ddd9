"""A page that has the web app's weight store in a worker, and a server of weights that misbehaves.

The server counts the bytes of weights that it sends, and holds, cuts or damages them when told to.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import queue
import random
import re
import secrets
import subprocess
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from tests.web.browsing import node

_REPOSITORY = Path(__file__).parents[3]
_SOURCES = _REPOSITORY / "web/test/weights/page"
_HTML = b'<!doctype html><title>weights</title><script type="module" src="/page.js"></script>'
_STEP = 16 << 10


def bundled(folder: Path) -> Path:
    """The page's scripts, bundled into ``folder``."""
    options = {
        "entryPoints": [str(_SOURCES / name) for name in ("page.js", "worker.js")],
        "outdir": str(folder),
        "bundle": True,
        "format": "esm",
        "logLevel": "warning",
    }
    script = f"import {{ build }} from 'esbuild'; await build({json.dumps(options)});"
    command = [node(), "--input-type=module", "--eval", script]
    subprocess.run(command, cwd=_REPOSITORY / "web", check=True)
    return folder


@dataclass(frozen=True)
class Model:
    """A manifest and the files that it names."""

    manifest: bytes
    files: dict[str, bytes]
    chunk: int

    @property
    def digest(self) -> str:
        return sha256(self.manifest).hexdigest()

    @property
    def size(self) -> int:
        return sum(map(len, self.files.values()))


def model_of(*, rows: int, hidden: int, chunk: int, seed: int = 1) -> Model:
    """A model of random f16 rows, head and embedding tied."""
    source = random.Random(seed)  # noqa: S311
    files = {
        "embedding.bin": b"".join(source.randbytes(hidden * 2) for _ in range(rows)),
        "tokenizer.json": b'{"tokenizer": true}',
    }
    ends: dict[str, Any] = {"file": "embedding.bin", "dtype": "f16", "rows": rows}
    document = {
        "format": 1,
        "model": {"name": f"model {seed}", "family": "qwen2", "licence": None},
        "hidden_size": hidden,
        "vocab_size": rows,
        "num_layers": 2,
        "max_context": 128,
        "eos_token_ids": [],
        "ends": {
            "embedding": {**ends, "scale": None},
            "lm_head": {**ends, "bias": None, "softcap": None, "logit_scale": 1.0},
        },
        "tokenizer": "tokenizer.json",
        "chat_template": None,
        "special_tokens": {},
        "generation": {},
        "files": [_entry(name, data, chunk) for name, data in files.items()],
    }
    return Model(json.dumps(document).encode(), files, chunk)


def _entry(name: str, data: bytes, chunk: int) -> dict[str, Any]:
    pieces = [data[start : start + chunk] for start in range(0, len(data), chunk)]
    return {
        "name": name,
        "size": len(data),
        "sha256": sha256(data).hexdigest(),
        "chunk_size": chunk,
        "chunks": [sha256(piece).hexdigest() for piece in pieces],
    }


@dataclass
class WeightsServer:
    """``sent``: bytes of weights written so far. ``hold_at``, ``cuts``: in bytes sent, once each.

    ``corrupt``: offsets of the table that are served wrong once; ``always_corrupt``: each time.
    ``refusals``: (status, headers, body) for the next requests.
    """

    model: Model
    scripts: Path
    sent: int = 0
    hold_at: int | None = None
    held: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)
    cuts: list[int] = field(default_factory=list)
    corrupt: list[int] = field(default_factory=list)
    always_corrupt: list[int] = field(default_factory=list)
    refusals: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)
    credentials: set[str | None] = field(default_factory=set)
    port: int = 0
    steps: dict[str, queue.Queue[bytes]] = field(default_factory=lambda: defaultdict(queue.Queue))
    reports: queue.Queue[bytes] = field(default_factory=queue.Queue)

    @contextmanager
    def running(self) -> Iterator[WeightsServer]:
        server = _Quiet(("127.0.0.1", 0), self._handler())
        self.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield self
        finally:
            self.go_on.set()
            server.shutdown()
            server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def hold_after(self, count: int) -> None:
        """Send ``count`` more bytes of weights, then nothing before :meth:`resume`."""
        self.held.clear()
        self.go_on.clear()
        self.hold_at = self.sent + count

    def wait_until_held(self) -> None:
        assert self.held.wait(60), "the download did not come that far"

    def resume(self) -> None:
        self.hold_at = None
        self.go_on.set()

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        serve, reports = self._serve, self.reports

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                with contextlib.suppress(OSError):
                    serve(self)

            def do_POST(self) -> None:
                reports.put(self.rfile.read(int(self.headers["Content-Length"])))
                _respond(self, 200, {}, b"")

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def _serve(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        name = handler.path.rpartition("/")[2]
        if handler.path.startswith("/weights/") and name != "manifest.json":
            self._send_weights(handler, name)
        elif name == "manifest.json":
            _respond(handler, 200, {"Content-Type": "application/json"}, self.model.manifest)
        elif handler.path.startswith("/step/"):
            step = self.steps[name].get()
            _respond(handler, 200, {"Content-Type": "application/json"}, step)
        elif name in ("page.js", "worker.js"):
            script = (self.scripts / name).read_bytes()
            _respond(handler, 200, {"Content-Type": "text/javascript"}, script)
        else:
            _respond(handler, 200, {"Content-Type": "text/html"}, _HTML)

    def _send_weights(self, handler: http.server.BaseHTTPRequestHandler, name: str) -> None:
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", handler.headers.get("Range", ""))
        assert asked is not None
        self.requests.append((name, asked[0]))
        self.credentials.add(handler.headers.get("Authorization"))
        if self.refusals:
            _respond(handler, *self.refusals.pop(0))
            return
        first, last = int(asked[1]), int(asked[2])
        data = self.model.files[name]
        body = self._damaged(name, bytearray(data[first : last + 1]), first)
        handler.send_response(206)
        handler.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        for start in range(0, len(body), _STEP):
            if not self._send(handler, bytes(body[start : start + _STEP])):
                return

    def _send(self, handler: http.server.BaseHTTPRequestHandler, data: bytes) -> bool:
        """Whether the connection lives on."""
        if self.hold_at is not None and self.sent >= self.hold_at:
            self.held.set()
            self.go_on.wait(120)
        if self.cuts and self.sent >= self.cuts[0]:
            self.cuts.pop(0)
            handler.close_connection = True
            return False
        handler.wfile.write(data)
        self.sent += len(data)
        return True

    def _damaged(self, name: str, body: bytearray, first: int) -> bytearray:
        if name == "embedding.bin":
            hit = [offset for offset in self.corrupt if first <= offset < first + len(body)]
            self.corrupt = [offset for offset in self.corrupt if offset not in hit]
            for offset in [*hit, *self.always_corrupt]:
                if first <= offset < first + len(body):
                    body[offset - first] ^= 1
        return body


class _Quiet(http.server.ThreadingHTTPServer):
    """Browsers that are killed reset their connections."""

    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        pass


def _respond(
    handler: http.server.BaseHTTPRequestHandler, status: int, headers: dict[str, str], body: bytes
) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.send_header("Cache-Control", "no-store")
    handler.end_headers()
    handler.wfile.write(body)


class StoreFailure(Exception):
    """What the store in the page threw."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class StorePage:
    """The store in one tab."""

    def __init__(self, page: Page, url: str, kind: str = "auto") -> None:
        self.page = page
        page.goto(url)
        page.wait_for_function("() => 'call' in globalThis")
        self.environment = self.call("open", kind=kind)

    def call(self, action: str, **argument: Any) -> Any:
        """The action's value. Raises StoreFailure."""
        script = "([action, argument]) => call(action, argument)"
        return _value(self.page.evaluate(script, [action, argument]))

    def start(self, action: str, **argument: Any) -> None:
        """The same without waiting; :meth:`ended` waits."""
        script = "([action, argument]) => { globalThis.started = call(action, argument); }"
        self.page.evaluate(script, [action, argument])

    def ended(self) -> Any:
        return _value(self.page.evaluate("() => globalThis.started"))


class RemoteTab:
    """The same in a browser that nobody drives and that has :attr:`url` open."""

    def __init__(self, server: WeightsServer) -> None:
        self._server = server
        self._key = secrets.token_hex(4)
        self.url = f"{server.url}/#remote/{self._key}"

    def call(self, action: str, **argument: Any) -> Any:
        """The action's value. Raises StoreFailure."""
        step = {"action": action, "argument": argument}
        self._server.steps[self._key].put(json.dumps(step).encode())
        return _value(json.loads(self._server.reports.get(timeout=100)))


def _value(reply: dict[str, Any]) -> Any:
    if "error" in reply:
        raise StoreFailure(**reply["error"])
    return reply.get("value")
