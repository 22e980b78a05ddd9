"""The routes of an adapter host over a real socket."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from socket import create_connection

import httpx
import msgpack
import numpy as np
import pytest

from split_client.crypto.hosted import HostedAdapters
from split_client.crypto.session import HostSession
from split_he.device import decrypt, encrypt, rounded
from split_he.keys import DeviceKeys
from split_he.layout import Packing
from split_masks.device import Hiding
from split_masks.ranges import MaskRange
from tests.adapter_hosts import RunningHost, made_adapter, made_host, running_host
from tests.patience import logged
from tests.server_process import running_server

_FILE = made_adapter(scale=0.5)
_TOKEN = "a-token-of-enough-length"
_NONCE = bytes(32)
_PATHS = ("key", "evaluate", "session", "reserve", "mask", "masked", "end")


@dataclass(frozen=True)
class _Model:
    hidden_size: int = 192


@pytest.fixture(scope="module")
def served() -> Iterator[RunningHost]:
    with running_host(made_host({"made": _FILE}, sessions_per_principal=10_000)) as running:
        yield running


def _session(served: RunningHost, client: httpx.Client) -> tuple[bytes, DeviceKeys, Packing]:
    opened = served.open(client, "made")
    keys = DeviceKeys.generate(opened["host_nonce"], _NONCE)
    body = opened["session"] + _NONCE + keys.public
    assert client.post("/made/key", content=body).status_code == 204
    return opened["session"], keys, Packing.parse(opened["packing"])


def test_the_list_is_that_of_adapters_and_says_encrypted(served: RunningHost) -> None:
    document = httpx.get(served.adapters_url, trust_env=False).json()
    (entry,) = document["adapters"]
    assert (entry["name"], entry["rank"], entry["hidden_size"]) == ("made", 4, 64)
    assert entry["encrypted"] is True
    assert "a" not in entry


def test_b_is_served_as_float32_and_a_is_not(served: RunningHost) -> None:
    with served.client() as client:
        data = client.get("/made/b").content
        np.testing.assert_array_equal(np.frombuffer(data, "<f4").reshape(64, 4), _FILE.b)
        assert client.get("/made/a").json()["error"]["code"] == "not_found"
        assert client.get("/other/b").json()["error"]["code"] == "unknown_adapter"


def test_a_query_is_answered_with_the_product(served: RunningHost) -> None:
    hidden = np.linspace(-1, 1, 64).astype(np.float32)
    with served.client() as client:
        session, keys, plan = _session(served, client)
        body = session + (1).to_bytes(8, "little") + encrypt(hidden, keys, plan)
        answers = [client.post("/made/evaluate", content=body) for _ in range(2)]
    assert answers[0].content == answers[1].content
    assert answers[0].headers["content-type"] == "application/octet-stream"
    assert answers[0].headers["cache-control"] == "no-store"
    product = decrypt(answers[0].content, keys, plan)
    np.testing.assert_allclose(product, _FILE.a.astype(float) @ hidden.astype(float), atol=1e-3)


def test_a_session_that_is_ended_is_gone_and_nobody_elses(served: RunningHost) -> None:
    with served.client() as client:
        ended, keys, plan = _session(served, client)
        other, *_ = _session(served, client)
        assert client.post("/made/end", content=ended).status_code == 204
        body = ended + (1).to_bytes(8, "little") + encrypt(np.ones(64, np.float32), keys, plan)
        for path, content in (("/made/evaluate", body), ("/made/end", ended)):
            answer = client.post(path, content=content)
            assert answer.json()["error"]["code"] == "unknown_session"
        assert client.post("/made/end", content=other).status_code == 204


@pytest.mark.parametrize("path", [f"/made/{path}" for path in _PATHS])
@pytest.mark.parametrize("size", [1, 24, 10_000, 1_000_000])
def test_a_body_of_another_length_is_refused(served: RunningHost, path: str, size: int) -> None:
    with served.client() as client:
        answer = client.post(path, content=bytes(size))
    assert answer.json()["error"]["code"] == "wrong_length"
    assert answer.status_code in (400, 413)


def test_a_length_is_judged_before_the_body_arrives(served: RunningHost) -> None:
    head = (
        b"POST /api/v1/adapters/made/evaluate HTTP/1.1\r\nHost: localhost\r\n"
        b"Content-Length: 99999999999\r\n\r\n"
    )
    with create_connection(("127.0.0.1", served.port), timeout=20) as raw:
        raw.sendall(head)
        answer = raw.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 413")
    assert b"wrong_length" in answer


def test_a_body_without_a_length_is_refused(served: RunningHost) -> None:
    with served.client() as client:
        answer = client.post("/made/evaluate", content=iter([b"x"]))
    assert (answer.status_code, answer.json()["error"]["code"]) == (411, "length_required")


def test_refusals_carry_their_codes(served: RunningHost) -> None:
    terms = served.host.adapter("made").terms
    with served.client() as client:
        session, _, _ = _session(served, client)
        keyless = served.open(client, "made")["session"]
        number = (1).to_bytes(8, "little")
        told = {
            "unknown_session": bytes(16) + number + bytes(terms.query),
            "key_missing": keyless + number + bytes(terms.query),
            "malformed_ciphertext": session + number + bytes(terms.query),
            "query_conflict": session + (7).to_bytes(8, "little") + bytes(terms.query),
        }
        for code, body in told.items():
            error = client.post("/made/evaluate", content=body).json()["error"]
            assert error["code"] == code
            assert error["retryable"] is False
        body = keyless + _NONCE + bytes(terms.key)
        assert client.post("/made/key", content=body).json()["error"]["code"] == "malformed_key"
        assert client.get("/made/evaluate").json()["error"]["code"] == "method_not_allowed"


def test_the_guards_of_the_server_stand_before_the_host() -> None:
    host = made_host({"made": _FILE})
    with running_host(host, token=_TOKEN) as served, served.client() as client:
        assert client.get(served.adapters_url).status_code == 401
        bearer = {"Authorization": f"Bearer {_TOKEN}"}
        assert client.get(served.adapters_url, headers=bearer).status_code == 200
        foreign = bearer | {"Host": "rebound.example.org"}
        assert (
            client.get(served.adapters_url, headers=foreign).json()["error"]["code"]
            == "forbidden_host"
        )
        foreign = bearer | {"Origin": "https://other.example.org"}
        assert (
            client.get(served.adapters_url, headers=foreign).json()["error"]["code"]
            == "forbidden_origin"
        )
        health = httpx.get(f"{served.url}/health", trust_env=False)
        assert health.json() == {"status": "ok"}
        assert (
            client.get(served.adapters_url, headers=bearer).headers["x-content-type-options"]
            == "nosniff"
        )


def test_a_page_whose_origin_is_named_may_ask_and_no_other_is_told_anything() -> None:
    page, path = "http://127.0.0.1:8095", "/made/evaluate"
    wanted = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
        "Access-Control-Request-Private-Network": "true",
    }
    with (
        running_host(made_host({"made": _FILE}), token=_TOKEN, allow_origin=(page,)) as served,
        served.client() as client,
    ):
        for origin in (page, "http://127.0.0.1:8096", "null", "http://127.0.0.1:8095.evil"):
            headers = {"Origin": origin}
            answers = [
                client.options(path, headers=headers | wanted),
                client.post(path, headers=headers),
                client.post(path, headers=headers | {"Authorization": f"Bearer {_TOKEN}"}),
            ]
            allowed = [answer.headers.get("access-control-allow-origin") for answer in answers]
            assert allowed == [page if origin == page else None] * 3
            statuses = [answer.status_code for answer in answers]
            assert statuses == ([200, 401, 400] if origin == page else [403] * 3)
        preflight = client.options(path, headers={"Origin": page} | wanted)
        assert preflight.headers["access-control-allow-private-network"] == "true"
        assert "access-control-allow-credentials" not in preflight.headers


def test_no_log_line_holds_a_session(served: RunningHost, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with served.client() as client:
        session, _, _ = _session(served, client)
        client.post("/made/evaluate", content=session)
    text = logged(caplog, "/api/v1/adapters/made/evaluate 400")
    assert session.hex() not in text
    assert repr(session)[2:-1] not in text


def test_what_a_session_is_told_is_what_the_device_needs(served: RunningHost) -> None:
    with served.client() as client:
        opened = served.open(client, "made")
    assert set(opened) == {"session", "host_nonce", "packing", "queries_left", "masks"}
    # This one has no file for their numbers.
    assert opened["masks"] == 0
    assert opened["queries_left"] is None
    assert len(msgpack.packb(opened)) < 4096


def test_the_host_starts_without_torch() -> None:
    code = (
        "import sys, json, split_server.serving.adapter_host.cli, split_server.adapter_host.ckks;"
        "import split_server.cli;"
        "print(json.dumps([m for m in ('torch', 'transformers', 'tenseal') if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_a_split_server_has_its_host_below_a_path_of_its_own() -> None:
    with running_server(adapter_host=True, query_budget=5, compat=False) as server:
        model = _Model()
        assert server.parts.adapter_host is not None
        with closing(HostedAdapters(f"{server.url}/adapter-host", None, model)) as adapters:
            assert [about.encrypted for about in adapters.available] == [True]
            session = HostSession.open(adapters._link, adapters.available[0])
            assert session.product(np.ones(192, dtype=np.float32)).shape == (16,)
        assert server.parts.adapter_host.budget.left("local", "banking") == 4
        with server.client() as client:
            (clear,) = client.get("/api/v1/adapters").json()["adapters"]
        assert clear["encrypted"] is False


def test_a_mask_is_reserved_made_and_used_over_a_socket(tmp_path: Path) -> None:
    hidden = np.linspace(-1, 1, 64).astype(np.float32)
    host = made_host({"made": _FILE}, masks=tmp_path)
    with running_host(host) as served, served.client() as client:
        session, keys, plan = _session(served, client)
        asked = (1).to_bytes(2, "little") + (2).to_bytes(2, "little")
        given = MaskRange.parse(client.post("/made/reserve", content=session + asked).content)
        assert (given.first, given.count) == (0, 2)
        hiding, named = Hiding.draw(keys, plan), session + bytes(8)
        reply = client.post("/made/mask", content=named + hiding.query).content
        mask = hiding.mask(0, reply, keys, plan)
        body = named + mask.masked(rounded(hidden, plan))
        answers = [client.post("/made/masked", content=body) for _ in range(2)]
        assert answers[0].content == answers[1].content
        product = mask.product(answers[0].content)
        np.testing.assert_allclose(product, _FILE.a.astype(float) @ hidden.astype(float), atol=1e-3)
        for number, code in ((0, "mask_used"), (1, "mask_lost"), (2, "mask_foreign")):
            other = session + number.to_bytes(8, "little") + mask.masked(np.zeros(64, np.int64))
            refused = client.post("/made/masked", content=other)
            assert (refused.status_code, refused.json()["error"]["code"]) == (409, code)
