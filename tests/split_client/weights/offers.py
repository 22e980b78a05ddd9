"""A small manifest with its files, and a server of them that misbehaves on request."""

from __future__ import annotations

import copy
import http.server
import json
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from split_client.transport.endpoint import Endpoint
from tests.split_client.servers import http_server, respond

CHUNK = 64 << 10
HIDDEN, VOCAB = 64, 1100
# The table, and its packed form.
TABLES = ("embedding.bin", "embedding.bin.q8_0")


def file_entry(name: str, data: bytes, chunk: int = CHUNK) -> dict[str, Any]:
    """The manifest's entry of a file."""
    pieces = [data[start : start + chunk] for start in range(0, len(data), chunk)]
    return {
        "name": name,
        "size": len(data),
        "sha256": sha256(data).hexdigest(),
        "chunk_size": chunk,
        "chunks": [sha256(piece).hexdigest() for piece in pieces],
    }


FILES = {
    "embedding.bin": random.Random(1).randbytes(VOCAB * HIDDEN * 4),  # noqa: S311
    "tokenizer.json": b'{"tokenizer": true}',
    "chat_template.jinja": b"{{ messages }}",
}
DOCUMENT: dict[str, Any] = {
    "format": 1,
    "model": {"name": "tiny", "family": "qwen2", "licence": "apache-2.0"},
    "hidden_size": HIDDEN,
    "vocab_size": VOCAB,
    "num_layers": 2,
    "max_context": 128,
    "eos_token_ids": [3],
    "bos_token_id": None,
    "ends": {
        "embedding": {"file": "embedding.bin", "dtype": "f32", "rows": VOCAB, "scale": None},
        "lm_head": {
            "file": "embedding.bin",
            "dtype": "f32",
            "rows": VOCAB,
            "bias": None,
            "softcap": None,
            "logit_scale": 1.0,
        },
    },
    "tokenizer": "tokenizer.json",
    "chat_template": "chat_template.jinja",
    "special_tokens": {"eos_token": "</s>"},
    "generation": {"temperature": 0.7, "top_k": 20},
    "files": [file_entry(name, data) for name, data in FILES.items()],
    "backbone": {"sha256": "0" * 64},
}


def document(**changes: Any) -> dict[str, Any]:
    """A copy of the manifest; a key like ``ends__lm_head__rows`` changes a nested value."""
    changed = copy.deepcopy(DOCUMENT)
    for path, value in changes.items():
        *parents, last = path.split("__")
        target = changed
        for parent in parents:
            target = target[parent]
        target[last] = value
    return changed


def encoded(doc: object) -> bytes:
    return json.dumps(doc).encode()


@dataclass
class WeightsServer:
    """``requests``: (file, first byte) asked for. ``cut_after``: bytes of a body before each of the
    next cuts; ``corrupt``: byte offsets of the table that are served wrong, once each.
    ``packed``: what the answer with the manifest tells of packed forms.
    """

    requests: list[tuple[str, int]] = field(default_factory=list)
    cut_after: list[int] = field(default_factory=list)
    corrupt: list[int] = field(default_factory=list)
    always_corrupt: list[int] = field(default_factory=list)
    status: dict[str, int] = field(default_factory=dict)
    ranges: bool = True
    manifest: bytes = encoded(DOCUMENT)
    packed: str = ""
    files: dict[str, bytes] = field(default_factory=lambda: dict(FILES))

    def get(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        name = handler.path.rpartition("/")[2]
        if name in self.status:
            respond(handler, self.status[name], b"nothing")
        elif name == "manifest.json":
            told = {"X_Packed": self.packed} if self.packed else {}
            respond(handler, 200, self.manifest, **told)
        elif name not in self.files:
            respond(handler, 404, b"nothing")
        else:
            self._send(handler, name)

    def _send(self, handler: http.server.BaseHTTPRequestHandler, name: str) -> None:
        asked = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
        start = int(asked[1]) if asked else 0
        self.requests.append((name, start))
        data = self._served(name)
        body = data[start:] if self.ranges else data
        handler.send_response(206 if asked and self.ranges else 200)
        if asked and self.ranges:
            handler.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        if self.cut_after and name in TABLES:
            handler.wfile.write(body[: self.cut_after.pop(0)])
            handler.close_connection = True
            return
        handler.wfile.write(body)

    def _served(self, name: str) -> bytes:
        if name not in TABLES:
            return self.files[name]
        data = bytearray(self.files[name])
        for offset in [*self.corrupt, *self.always_corrupt]:
            data[offset] ^= 1
        self.corrupt.clear()
        return bytes(data)

    @contextmanager
    def running(self) -> Iterator[Endpoint]:
        with http_server(get=self.get) as endpoint:
            yield endpoint
