"""What a host that is not honest, or not one at all, may answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import msgpack
import numpy as np
import pytest

from split_client.adapters.errors import AdapterListInvalid
from split_client.crypto.adapter import MAX_SCALED_B
from split_client.crypto.errors import (
    AdapterHostInvalid,
    AdapterHostUnreachable,
    AdapterHostUnstable,
)
from split_client.crypto.reply import MAX_REKEYS, MAX_STATE
from split_he import wire
from split_he.layout import Packing, packing
from split_he.params import Q
from split_server.adapters.listing import listing
from tests.adapter_hosts import made_adapter, made_host
from tests.split_client.crypto.correcting import (
    FILE,
    HIDDEN,
    SHORT,
    corrected,
    empty_sequence,
    hosted,
)

Answer = Callable[[str, bytes], tuple[int, bytes]]


@contextmanager
def _pretended(answer: Answer) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            status, data = answer(self.path.removeprefix("/api/v1/adapters"), body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = _answer  # noqa: N815 - names of the base class

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _honest(path: str) -> bytes:
    host = made_host({"made": FILE})
    opened = host.open("ada", "made")
    host.close()
    return {
        "": json.dumps(listing({"made": FILE}, he=True)).encode(),
        "/made/b": FILE.b.tobytes(),
        "/made/session": msgpack.packb(opened),
        "/made/key": b"",
        "/made/evaluate": bytes(host.adapter("made").terms.reply),
    }[path]


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("/made/b", b""),
        ("/made/b", bytes(3)),
        ("/made/b", bytes(4 * 64 * 4 + 1)),
        ("/made/b", np.full(256, np.nan, "<f4").tobytes()),
        ("/made/session", b"\xc1"),
        ("/made/session", msgpack.packb({"session": bytes(3)})),
        ("/made/session", bytes(5000)),
        ("/made/session", msgpack.packb([])),
        ("/made/key", b"more"),
        ("/made/evaluate", b""),
        ("/made/evaluate", bytes(100_000)),
        ("/made/evaluate", None),
    ],
)
def test_answers_that_are_not_what_was_agreed_are_not_used(path: str, data: bytes | None) -> None:
    def answer(asked: str, _: bytes) -> tuple[int, bytes]:
        return 200, data if asked == path and data is not None else _honest(asked)

    with _pretended(answer) as url:
        adapters = hosted(url, patience=SHORT)
        with pytest.raises(AdapterHostInvalid):
            corrected(adapters, HIDDEN[0])
        adapters.close()


def test_a_packing_for_another_shape_is_refused() -> None:
    other = made_host({"made": made_adapter(rank=3)})
    packing = other.open("ada", "made")
    other.close()

    def answer(asked: str, _: bytes) -> tuple[int, bytes]:
        return 200, msgpack.packb(packing) if asked == "/made/session" else _honest(asked)

    with _pretended(answer) as url:
        adapters = hosted(url, patience=SHORT)
        with pytest.raises(AdapterHostInvalid, match="another shape"):
            corrected(adapters, HIDDEN[0])
        adapters.close()


@pytest.mark.parametrize("value", [3e38, -2.1 * MAX_SCALED_B])
def test_a_b_that_is_out_of_all_proportion_is_refused_before_anything_is_encrypted(
    value: float,
) -> None:
    asked: list[str] = []

    def answer(path: str, _: bytes) -> tuple[int, bytes]:
        asked.append(path)
        return 200, np.full(256, value, "<f4").tobytes() if path == "/made/b" else _honest(path)

    with _pretended(answer) as url:
        adapters = hosted(url, patience=SHORT)
        with pytest.raises(AdapterHostInvalid, match=r"scale \* B"):
            adapters.use("made", empty_sequence())
        adapters.close()
    assert asked == ["", "/made/b"]


def _session_of(plan: Packing) -> bytes:
    document = plan.document()
    made: bytes = msgpack.packb(
        {"session": bytes(16), "host_nonce": bytes(32), "packing": document}
    )
    return made


@pytest.mark.parametrize("seed", range(4))
def test_no_product_that_a_host_makes_up_decides_whether_the_reply_goes_on(seed: int) -> None:
    plan = packing(64, 4, 2.0**-90, 2.0**-90)
    residues = np.random.default_rng(seed).integers(0, Q, (plan.groups, 2, 2048), dtype=np.uint64)
    made_up = {
        "/made/b": np.full(256, 2 * MAX_SCALED_B, "<f4").tobytes(),
        "/made/session": _session_of(plan),
        "/made/evaluate": wire.pack_reply(residues),
    }

    def answer(asked: str, _: bytes) -> tuple[int, bytes]:
        return 200, made_up.get(asked) or _honest(asked)

    with _pretended(answer) as url:
        adapters = hosted(url, patience=SHORT)
        state = corrected(adapters, HIDDEN[0])
        adapters.close()
    assert (np.abs(state) == MAX_STATE).all()


def test_a_host_cannot_search_for_a_states_norm_with_one_bound_for_each_session() -> None:
    bounds = iter([128.0, 64.0])
    asked: list[str] = []

    def answer(path: str, _: bytes) -> tuple[int, bytes]:
        asked.append(path)
        if path == "/made/session":
            return 200, _session_of(packing(64, 4, norm_bound=next(bounds)))
        if path == "/made/evaluate":
            return 404, b'{"error": {"code": "unknown_session", "message": "gone"}}'
        return 200, _honest(path)

    with _pretended(answer) as url:
        adapters = hosted(url, patience=SHORT)
        with pytest.raises(AdapterHostInvalid, match="another packing"):
            corrected(adapters, HIDDEN[0])
        adapters.close()
    assert [asked.count(f"/made/{what}") for what in ("session", "key", "evaluate")] == [2, 1, 1]


@pytest.mark.parametrize("conflicts", [1, MAX_REKEYS, 100])
def test_a_key_that_conflicts_with_itself_sent_again_is_replaced_by_a_new_sessions(
    conflicts: int,
) -> None:
    """The connection broke while the host was checking the key."""
    keys: list[bytes] = []

    def answer(path: str, body: bytes) -> tuple[int, bytes]:
        if path == "/made/key":
            keys.append(body)
            if len(keys) <= conflicts:
                return 409, b'{"error": {"code": "key_conflict", "message": "another"}}'
        return 200, _honest(path)

    with _pretended(answer) as url:
        adapters = hosted(url, patience=SHORT)
        if conflicts > MAX_REKEYS:
            with pytest.raises(AdapterHostUnstable):
                adapters.use("made", empty_sequence())
        else:
            adapters.use("made", empty_sequence())
        adapters.close()
    assert len(set(keys)) == len(keys) == 1 + min(conflicts, MAX_REKEYS)


def test_a_host_that_loses_every_session_is_given_up() -> None:
    def answer(asked: str, _: bytes) -> tuple[int, bytes]:
        if asked != "/made/evaluate":
            return 200, _honest(asked)
        return 404, b'{"error": {"code": "unknown_session", "message": "gone"}}'

    with _pretended(answer) as url:
        adapters = hosted(url, patience=SHORT)
        with pytest.raises(AdapterHostUnstable):
            corrected(adapters, HIDDEN[0])
        adapters.close()


def test_a_list_in_the_clear_or_no_list_is_refused() -> None:
    clear = json.dumps(listing({"made": FILE}, he=False)).encode()
    told: list[tuple[int, bytes, type[Exception]]] = [
        (200, clear, AdapterHostInvalid),
        (200, b"<html>", AdapterListInvalid),
        (404, b"<html>", AdapterHostInvalid),
        (502, b"", AdapterHostUnreachable),
    ]
    for status, data, error in told:
        with _pretended(lambda *_, s=status, d=data: (s, d)) as url, pytest.raises(error):
            hosted(url, patience=SHORT)
