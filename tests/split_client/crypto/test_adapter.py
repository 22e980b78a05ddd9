"""Encrypted adapters from the device: exact, repaired when the host forgets, never skipped."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

import msgpack
import numpy as np
import pytest

from split_client.adapters.errors import AdapterListInvalid, UnknownAdapter
from split_client.crypto import adapter as hosted_adapter
from split_client.crypto.adapter import MAX_SCALED_B
from split_client.crypto.errors import (
    AdapterHostInvalid,
    AdapterHostRefused,
    AdapterHostUnreachable,
    AdapterHostUnstable,
    AdapterOutOfRange,
)
from split_client.crypto.hosted import HostedAdapters
from split_client.crypto.reply import MAX_REKEYS, MAX_STATE
from split_client.errors import Cancelled
from split_client.generation.sequence import Sequence
from split_client.transport.channel import Patience
from split_client.transport.endpoint import Endpoint
from split_client.transport.known import KnownServers
from split_he import wire
from split_he.layout import Packing, packing
from split_he.params import Q
from split_server.adapters.listing import listing
from tests.adapter_hosts import RunningHost, made_adapter, made_host, running_host

_FILE = made_adapter(scale=0.5)
_SHORT = Patience(connect=5.0, exchange=20.0, total=0.5)
_HIDDEN = np.random.default_rng(7).normal(size=(20, 64)).astype(np.float32)


@dataclass(frozen=True)
class _Model:
    hidden_size: int = 64


@pytest.fixture(scope="module")
def served() -> Iterator[RunningHost]:
    with running_host(made_host({"made": _FILE, "wide": made_adapter("wide", 96)})) as running:
        yield running


def _adapters(url: str, token: str | None = None, **options: object) -> HostedAdapters:
    return HostedAdapters(url, token, _Model(), **options)  # type: ignore[arg-type]


def _sequence() -> Sequence:
    return Sequence(None, lambda _: _HIDDEN)  # type: ignore[arg-type]


def _corrected(adapters: HostedAdapters, hidden: np.ndarray) -> np.ndarray:
    sequence = _sequence()
    adapters.use("made", sequence)
    assert sequence.correct is not None
    return sequence.correct(hidden)


def _reference(hidden: np.ndarray) -> np.ndarray:
    product = _FILE.a.astype(np.float64) @ hidden.astype(np.float64)
    return hidden + _FILE.scale * (_FILE.b.astype(np.float64) @ product)


def test_the_corrected_state_is_the_adapters_in_float64(served: RunningHost) -> None:
    adapters = _adapters(served.url)
    for hidden in _HIDDEN:
        corrected = _corrected(adapters, hidden)
        assert corrected.dtype == np.float32
        expected = _reference(hidden)
        error = np.linalg.norm(corrected - expected) / np.linalg.norm(expected)
        assert error < 1e-4
    adapters.close()


def test_only_adapters_that_fit_the_model_are_offered(served: RunningHost) -> None:
    adapters = _adapters(served.url)
    assert [about.name for about in adapters.available] == ["made"]
    with pytest.raises(UnknownAdapter, match="made"):
        adapters.use("wide", _sequence())
    adapters.close()


def test_none_leaves_the_state_alone_and_the_model_server_is_told_nothing(
    served: RunningHost,
) -> None:
    adapters, sequence = _adapters(served.url), _sequence()
    adapters.use("made", sequence)
    assert sequence.adapter is None
    adapters.use(None, sequence)
    assert sequence.correct is None
    adapters.close()


def _opened(adapters: HostedAdapters) -> int:
    """Sessions so far, once what was begun ahead is done."""
    adapter = adapters._adapters["made"]
    if adapter._next is not None:
        adapter._next.result(20)
    return adapter.sessions_opened


def test_a_reply_has_keys_of_its_own_that_were_made_while_the_one_before_went_on() -> None:
    with running_host(made_host({"made": _FILE})) as served:
        adapters, sequence, waited = _adapters(served.url), _sequence(), []
        ask = adapters._link.ask

        def told(method: Literal["GET", "POST"], path: str, *rest: Any) -> bytes:
            waited.append(path)
            return ask(method, path, *rest)

        adapters._link.ask = told  # type: ignore[method-assign]
        for _ in range(3):
            adapters.use("made", sequence)
            assert sequence.correct is not None
            for hidden in _HIDDEN[:2]:
                sequence.correct(hidden)
            opened = _opened(adapters)
        assert opened == 4
        # Later replies wait for their queries alone.
        assert waited == ["/made/b", "/made/session", "/made/key", *["/made/evaluate"] * 6]
        assert len(served.host.sessions) <= 3
        adapters.close()
        adapters.close()
        assert len(served.host.sessions) == 0


def test_the_first_token_of_a_reply_is_not_held_up_by_the_keys_of_the_next(
    served: RunningHost,
) -> None:
    adapters, sequence = _adapters(served.url), _sequence()
    adapters.use("made", sequence)
    assert sequence.correct is not None
    sequence.correct(_HIDDEN[0])
    assert adapters._adapters["made"]._next is None
    sequence.correct(_HIDDEN[1])
    assert adapters._adapters["made"]._next is not None
    adapters.close()


def test_keys_that_take_too_long_are_given_up_and_made_anew(
    served: RunningHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosted_adapter, "_LOOK_SECONDS", 0.001)
    adapters, sequence, held = _adapters(served.url), _sequence(), threading.Event()
    _corrected(adapters, _HIDDEN[0])
    adapters._ahead.begin(lambda _: held.wait(20))
    adapters._adapters["made"].prepare_next()
    np.testing.assert_allclose(
        _corrected(adapters, _HIDDEN[1]), _reference(_HIDDEN[1]), rtol=1e-4, atol=1e-3
    )
    adapters._adapters["made"].prepare_next()
    adapters._adapters["made"]._pause = _cancelled
    with pytest.raises(Cancelled):
        adapters.use("made", sequence)
    held.set()
    adapters.close()


def _cancelled(_: float) -> None:
    raise Cancelled


def test_two_replies_that_go_on_beside_each_other_keep_their_own_keys(served: RunningHost) -> None:
    adapters, left, right = _adapters(served.url), _sequence(), _sequence()
    for sequence in (left, right):
        adapters.use("made", sequence)
    for hidden in _HIDDEN[:2]:
        for sequence in (left, right):
            assert sequence.correct is not None
            np.testing.assert_allclose(
                sequence.correct(hidden), _reference(hidden), rtol=1e-4, atol=1e-3
            )
    assert _opened(adapters) == 3
    adapters.close()


def test_keys_that_could_not_be_made_ahead_are_made_when_the_reply_begins(
    served: RunningHost,
) -> None:
    adapters = _adapters(served.url)
    adapters._ahead.close()
    for hidden in _HIDDEN[:2]:
        _corrected(adapters, hidden)
    assert adapters._adapters["made"].sessions_opened == 2
    adapters.close()


def test_a_host_that_lost_the_session_is_given_new_keys(served: RunningHost) -> None:
    adapters, sequence = _adapters(served.url), _sequence()
    adapters.use("made", sequence)
    assert sequence.correct is not None
    for hidden in _HIDDEN[:2]:
        sequence.correct(hidden)
    opened = _opened(adapters)
    for session in list(served.host.sessions._held.values()):
        served.host.sessions.drop(session)
    np.testing.assert_allclose(
        sequence.correct(_HIDDEN[1]), _reference(_HIDDEN[1]), rtol=1e-4, atol=1e-3
    )
    assert _opened(adapters) == opened + 1
    # Those for the next reply were lost as well.
    np.testing.assert_allclose(
        _corrected(adapters, _HIDDEN[2]), _reference(_HIDDEN[2]), rtol=1e-4, atol=1e-3
    )
    adapters.close()


def test_a_worker_that_dies_is_not_noticed(served: RunningHost) -> None:
    adapters, sequence = _adapters(served.url), _sequence()
    adapters.use("made", sequence)
    assert sequence.correct is not None
    for hidden in _HIDDEN[:2]:
        sequence.correct(hidden)
    opened = _opened(adapters)
    for pid in served.worker_pids:
        os.kill(pid, signal.SIGKILL)
    np.testing.assert_allclose(
        sequence.correct(_HIDDEN[1]), _reference(_HIDDEN[1]), rtol=1e-4, atol=1e-3
    )
    assert _opened(adapters) == opened
    adapters.close()


def test_a_restarted_host_is_found_again_and_a_dead_one_stops_the_reply() -> None:
    with running_host(made_host({"made": _FILE})) as first:
        adapters = _adapters(first.url, patience=_SHORT)
        _corrected(adapters, _HIDDEN[0])
        sequence = _sequence()
        adapters.use("made", sequence)
    assert sequence.correct is not None
    with pytest.raises(AdapterHostUnreachable, match="the reply stops") as unreachable:
        sequence.correct(_HIDDEN[1])
    assert unreachable.value.code == "adapter_host_unreachable"
    with running_host(made_host({"made": _FILE}), port=first.port):
        np.testing.assert_allclose(
            sequence.correct(_HIDDEN[1]), _reference(_HIDDEN[1]), rtol=1e-4, atol=1e-3
        )
    adapters.close()


def test_a_spent_budget_stops_the_reply_in_words() -> None:
    with running_host(made_host({"made": _FILE}, budget=2)) as served:
        adapters = _adapters(served.url)
        for hidden in _HIDDEN[:2]:
            _corrected(adapters, hidden)
        with pytest.raises(AdapterHostRefused, match="all 2 queries") as refused:
            _corrected(adapters, _HIDDEN[2])
        assert refused.value.code == "budget_exhausted"
        adapters.close()


def test_a_wrong_token_is_told_apart_from_the_servers() -> None:
    with running_host(made_host({"made": _FILE}), token="a-token-of-enough-length") as served:
        for token in (None, "another-token-of-length"):
            with pytest.raises(AdapterHostRefused, match="--adapter-token") as refused:
                _adapters(served.url, token)
            assert refused.value.code == "adapter_host_unauthorized"
        adapters = _adapters(served.url, "a-token-of-enough-length")
        assert adapters.available
        adapters.close()


@pytest.mark.parametrize("value", [1e6, np.inf, np.nan])
def test_a_state_beyond_the_range_stops_the_reply(served: RunningHost, value: float) -> None:
    adapters = _adapters(served.url)
    with pytest.raises(AdapterOutOfRange, match="--activation-rms"):
        _corrected(adapters, np.full(64, value, dtype=np.float32))
    adapters.close()


def test_a_cancelled_wait_for_the_host_ends_at_once() -> None:
    def cancel(_: float) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        _adapters("http://127.0.0.1:9", pause=cancel)


# What a host that is not honest, or not one at all, may answer.

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
    host = made_host({"made": _FILE})
    opened = host.open("ada", "made")
    host.close()
    return {
        "": json.dumps(listing({"made": _FILE}, he=True)).encode(),
        "/made/b": _FILE.b.tobytes(),
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
        adapters = _adapters(url, patience=_SHORT)
        with pytest.raises(AdapterHostInvalid):
            _corrected(adapters, _HIDDEN[0])
        adapters.close()


def test_a_packing_for_another_shape_is_refused() -> None:
    other = made_host({"made": made_adapter(rank=3)})
    packing = other.open("ada", "made")
    other.close()

    def answer(asked: str, _: bytes) -> tuple[int, bytes]:
        return 200, msgpack.packb(packing) if asked == "/made/session" else _honest(asked)

    with _pretended(answer) as url:
        adapters = _adapters(url, patience=_SHORT)
        with pytest.raises(AdapterHostInvalid, match="another shape"):
            _corrected(adapters, _HIDDEN[0])
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
        adapters = _adapters(url, patience=_SHORT)
        with pytest.raises(AdapterHostInvalid, match=r"scale \* B"):
            adapters.use("made", _sequence())
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
        adapters = _adapters(url, patience=_SHORT)
        corrected = _corrected(adapters, _HIDDEN[0])
        adapters.close()
    assert (np.abs(corrected) == MAX_STATE).all()


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
        adapters = _adapters(url, patience=_SHORT)
        with pytest.raises(AdapterHostInvalid, match="another packing"):
            _corrected(adapters, _HIDDEN[0])
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
        adapters = _adapters(url, patience=_SHORT)
        if conflicts > MAX_REKEYS:
            with pytest.raises(AdapterHostUnstable):
                adapters.use("made", _sequence())
        else:
            adapters.use("made", _sequence())
        adapters.close()
    assert len(set(keys)) == len(keys) == 1 + min(conflicts, MAX_REKEYS)


def test_a_host_that_loses_every_session_is_given_up() -> None:
    def answer(asked: str, _: bytes) -> tuple[int, bytes]:
        if asked != "/made/evaluate":
            return 200, _honest(asked)
        return 404, b'{"error": {"code": "unknown_session", "message": "gone"}}'

    with _pretended(answer) as url:
        adapters = _adapters(url, patience=_SHORT)
        with pytest.raises(AdapterHostUnstable):
            _corrected(adapters, _HIDDEN[0])
        adapters.close()


def test_a_list_in_the_clear_or_no_list_is_refused() -> None:
    clear = json.dumps(listing({"made": _FILE}, he=False)).encode()
    told: list[tuple[int, bytes, type[Exception]]] = [
        (200, clear, AdapterHostInvalid),
        (200, b"<html>", AdapterListInvalid),
        (404, b"<html>", AdapterHostInvalid),
        (502, b"", AdapterHostUnreachable),
    ]
    for status, data, error in told:
        with _pretended(lambda *_, s=status, d=data: (s, d)) as url, pytest.raises(error):
            _adapters(url, patience=_SHORT)


def test_a_certificate_that_is_not_trusted_is_told_at_once(tmp_path: Path) -> None:
    def never(_: float) -> None:
        raise AssertionError("waiting does not mend a certificate")

    host = made_host({"made": _FILE})
    with (
        running_host(host, tls="on", state=tmp_path) as served,
        pytest.raises(AdapterHostUnreachable, match="split-client pair"),
    ):
        _adapters(served.url.replace("http:", "https:"), pause=never)


def test_a_paired_host_is_trusted_and_given_the_token_of_the_pairing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPLIT_DATA", str(tmp_path / "data"))
    token = "a-token-of-enough-length"
    host = made_host({"made": _FILE})
    with running_host(host, tls="on", state=tmp_path / "state", token=token) as served:
        url = served.url.replace("http:", "https:")
        ca = (tmp_path / "state" / "ca.pem").read_text()
        KnownServers().remember(Endpoint.parse(url), token, ca, "laptop", "1")
        adapters = _adapters(url)
        np.testing.assert_allclose(
            _corrected(adapters, _HIDDEN[0]), _reference(_HIDDEN[0]), rtol=1e-4, atol=1e-3
        )
        adapters.close()
