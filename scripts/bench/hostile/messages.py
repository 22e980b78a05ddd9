"""Damaged messages of every kind that a server takes, the same ones for the same generator."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import httpx
import numpy as np

from scripts.bench.hostile import mutations
from scripts.bench.websocket_frame import websocket_frame
from split_wire.codec import decode_server_message, encode_message
from split_wire.digest import PrefixChain
from split_wire.messages import CONTENT_TYPE, SUBPROTOCOL, Close, Open, Opened, Ping, Step
from split_wire.tensor import Tensor

Kind: TypeAlias = Literal[
    "split.v1 frames",
    "split.v1 frames by POST",
    "original messages",
    "original messages by POST",
    "JSON of text APIs",
    "HTTP requests",
    "WebSocket bytes",
]
# Shares of all messages.
KINDS: dict[Kind, float] = {
    "split.v1 frames": 0.30,
    "split.v1 frames by POST": 0.12,
    "original messages": 0.16,
    "original messages by POST": 0.10,
    "JSON of text APIs": 0.16,
    "HTTP requests": 0.10,
    "WebSocket bytes": 0.06,
}
FORWARD_PATH = "/api/v1/split/forward"
STREAM_PATH = "/api/v1/split/stream"
_FRAMES_PER_SESSION = 25


@dataclass(frozen=True, slots=True)
class Target:
    """``model`` (its name), ``hidden_size`` and ``manifest`` (its digest) of what is served at
    ``url``.
    """

    url: str
    token: str
    model: str
    hidden_size: int
    manifest: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def head(self) -> str:
        """The first headers of a raw request."""
        return f"Host: localhost\r\nAuthorization: Bearer {self.token}\r\n"


def frames(target: Target, rng: random.Random, count: int) -> Iterator[bytes]:
    """``split.v1`` frames of sessions that are really open."""
    whole: list[bytes] = []
    with httpx.Client(trust_env=False, timeout=30, headers=target.headers) as client:
        for number in range(count):
            if number % _FRAMES_PER_SESSION == 0:
                whole = _of_a_session(target, client)
            yield mutations.mutated_frame(rng, rng.choice(whole))


def _of_a_session(target: Target, client: httpx.Client) -> list[bytes]:
    """Whole frames after one step of a session; without it when the server has no room."""
    others = [Open(target.manifest), Ping(), Close("A" * 22)]
    plain = [encode_message(message) for message in others]
    answer = client.post(
        target.url + FORWARD_PATH, content=plain[0], headers={"Content-Type": CONTENT_TYPE}
    )
    opened = decode_server_message(answer.content, 1 << 22)
    if not isinstance(opened, Opened):
        return plain
    chain, rows = PrefixChain(target.manifest), _rows(target, 4)
    first = Step(opened.session, 1, 0, chain.at(0), rows)
    client.post(
        target.url + FORWARD_PATH,
        content=encode_message(first),
        headers={"Content-Type": CONTENT_TYPE},
    )
    chain.replace(0, chain.following(0, rows))
    later = [
        Step(opened.session, 2, 4, chain.at(4), _rows(target, count)) for count in (1, 1, 3, 40)
    ]
    return [encode_message(step) for step in later] + plain


def originals(target: Target, rng: random.Random, count: int) -> Iterator[str | bytes]:
    """Messages of the original protocol, text and binary."""
    for _ in range(count):
        values = _original(target, rng)
        if rng.random() < 0.5:
            yield mutations.mutated_text(rng, values)
        else:
            encoded = values.pop("hidden_states", "")
            yield mutations.mutated_binary(rng, values, base64.b64decode(encoded))


def _original(target: Target, rng: random.Random) -> dict[str, Any]:
    forward = {
        "type": "forward",
        "hidden_states": base64.b64encode(_rows(target, rng.randint(1, 3)).data).decode(),
        "session_id": rng.choice(("mine", "other", "")),
        "incremental": rng.random() < 0.5,
        "seq_len": 1,
        "hidden_dim": target.hidden_size,
        "expert_name": rng.choice(("banking", None)),
    }
    others: list[dict[str, Any]] = [
        {"type": "config"},
        {"type": "tokenize", "text": "a"},
        {"type": "ping"},
    ]
    return rng.choice([forward, forward, *others])


def bodies(target: Target, rng: random.Random, count: int) -> Iterator[tuple[str, bytes]]:
    """Paths of OpenAI's and Kobold's APIs with JSON that is broken, or strange in a field."""
    for _ in range(count):
        path, values = _TEXT_REQUESTS[rng.randrange(len(_TEXT_REQUESTS))]
        whole = {key: _strange_inside(rng, value) for key, value in values.items()}
        if path.startswith("/v1/"):
            whole = {"model": target.model} | whole
        yield path, mutations.mutated_text(rng, whole).encode("utf-8", "surrogatepass")


def _strange_inside(rng: random.Random, value: Any) -> Any:
    """Sometimes the damage is not at the top."""
    if isinstance(value, dict) and value and rng.random() < 0.2:
        return mutations.mutated_map(rng, value)
    if isinstance(value, list) and value and rng.random() < 0.2:
        return [_strange_inside(rng, item) for item in value] + [rng.choice(mutations.STRANGE)]
    return value


_MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello."}]
_TOOL = {
    "type": "function",
    "function": {"name": "f", "parameters": {"type": "object", "properties": {}}},
}
_SCHEMA = {
    "type": "json_schema",
    "json_schema": {
        "name": "s",
        "schema": {"type": "object", "properties": {"a": {"type": "integer"}}},
    },
}
_CHAT: dict[str, Any] = {"messages": _MESSAGES, "max_tokens": 3}
_TEXT_REQUESTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/v1/chat/completions", _CHAT | {"temperature": 0.5, "seed": 1, "stop": ["x"]}),
    ("/v1/chat/completions", _CHAT | {"stream": True, "stream_options": {"include_usage": True}}),
    ("/v1/chat/completions", _CHAT | {"logprobs": True, "top_logprobs": 3, "n": 1}),
    ("/v1/chat/completions", _CHAT | {"tools": [_TOOL], "tool_choice": "auto"}),
    ("/v1/chat/completions", _CHAT | {"response_format": _SCHEMA}),
    ("/v1/completions", {"prompt": "Hello", "max_tokens": 3, "echo": True}),
    ("/v1/completions", {"prompt": [5, 6, 7], "max_tokens": 2, "logprobs": 2}),
    ("/v1/warm", _CHAT),
    ("/api/v1/generate", {"prompt": "Hello", "max_length": 3, "temperature": 0.7, "rep_pen": 1.1}),
    ("/api/v1/generate", {"input_ids": [5, 6], "max_length": 2, "return_attention": True}),
    ("/api/extra/generate/stream", {"prompt": "Hello", "max_length": 3, "genkey": "k"}),
    ("/api/extra/abort", {"genkey": "k"}),
    ("/api/v1/tokenize", {"text": "Hello", "add_special_tokens": True}),
    ("/api/v1/detokenize", {"token_ids": [5, 6]}),
    ("/api/extra/tokencount", {"prompt": "Hello", "special": True}),
    ("/api/v1/split/tokenize", {"text": "Hello"}),
    ("/api/v1/split/verify", {"hidden_states": "AAAA"}),
)


def requests(target: Target, rng: random.Random, count: int) -> Iterator[bytes]:
    """Raw HTTP requests, handshakes and what follows them among them."""
    frame, head = encode_message(Open(target.manifest)), target.head
    chat = json.dumps({"model": target.model} | _CHAT)
    posted = f"POST {FORWARD_PATH} HTTP/1.1\r\n{head}Content-Type: {CONTENT_TYPE}\r\n"
    texts = (
        f"{posted}Content-Length: {len(frame)}\r\n\r\n",
        f"{posted}Transfer-Encoding: chunked\r\n\r\n{len(frame):x}\r\n",
        handshake(target).decode() + "\x82\x7e",
        f"GET /weights/embedding.bin HTTP/1.1\r\n{head}Range: bytes=100-200\r\n\r\n",
        f"GET /weights/manifest.json HTTP/1.1\r\n{head}If-None-Match: *\r\n\r\n",
        f"GET /metrics HTTP/1.1\r\n{head}Accept: text/plain;version=0.0.4\r\n\r\n",
        f"POST /v1/chat/completions HTTP/1.1\r\n{head}Content-Length: {len(chat)}\r\n\r\n{chat}",
        f"POST /api/v1/split/verify HTTP/1.1\r\n{head}Content-Length: 2\r\n\r\n{{}}",
    )
    for _ in range(count):
        whole = rng.choice(texts).encode("latin-1") + frame + b"\r\n0\r\n\r\n"
        yield mutations.mutated_bytes(rng, whole)


def handshake(target: Target) -> bytes:
    """A WebSocket's first request (RFC 6455, 4.1)."""
    return (
        f"GET {STREAM_PATH} HTTP/1.1\r\n{target.head}Upgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n"
    ).encode()


def socket_bytes(rng: random.Random, count: int) -> Iterator[bytes]:
    """Frames of the WebSocket itself, after a whole handshake."""
    ping = websocket_frame(encode_message(Ping()))
    for _ in range(count):
        yield mutations.mutated_bytes(rng, 2 * ping)


def _rows(target: Target, count: int) -> Tensor:
    values = np.linspace(-1, 1, count * target.hidden_size, dtype=np.float32)
    return Tensor.from_f32(values.reshape(count, target.hidden_size), "f32")
