"""Every access rule, by real requests and real WebSocket handshakes."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
from websockets.exceptions import InvalidStatus

from split_wire.codec import decode_server_message, encode_message
from split_wire.digest import PrefixChain
from split_wire.messages import Open, Opened, Step
from split_wire.tensor import Tensor
from tests.patience import logged
from tests.server_process import STREAM_PATH, RunningServer, running_server
from tests.split_server.conftest import ALLOWED_ORIGIN, TOKEN

_PATHS = ["/weights/manifest.json", "/weights/tokenizer.json", "/api/v1/split/config", "/nothing"]
_BEARER = {"Authorization": f"Bearer {TOKEN}"}


def _get(server: RunningServer, path: str = "/health", **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with server.client() as client:
        return client.get(path, headers=named)


def _code(response: httpx.Response) -> str:
    body = response.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"code", "message", "retryable"}
    return str(body["error"]["code"])


def _handshake(server: RunningServer, **headers: str) -> tuple[int, str]:
    """Status and error code of a refused WebSocket."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with pytest.raises(InvalidStatus) as caught, server.socket(additional_headers=named):
        pass
    response = caught.value.response
    assert response.body is not None
    return response.status_code, json.loads(response.body)["error"]["code"]


def _opens(server: RunningServer, **options: object) -> bool:
    with server.socket(**options) as socket:
        socket.send(encode_message(Open()))
        reply = socket.recv()
        assert isinstance(reply, bytes)
        return isinstance(decode_server_message(reply, 1 << 20), Opened)


@pytest.fixture(scope="module")
def peopled_server(
    tiny_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    tokens = tmp_path_factory.mktemp("tokens") / "tokens"
    tokens.write_text("alice alice-has-this-token\nbob bob-has-that-token-1\n")
    with running_server(tiny_path, token_file=tokens) as server:
        yield server


def test_loopback_without_a_token_ignores_any_authorization(open_server: RunningServer) -> None:
    response = _get(open_server, _PATHS[0], Authorization="Bearer sk-whatever")
    assert response.status_code == 200


@pytest.mark.parametrize("path", _PATHS)
def test_with_a_token_everything_needs_it(path: str, guarded_server: RunningServer) -> None:
    for headers in (
        {},
        {"Authorization": "Bearer wrong-token-of-length"},
        {"Authorization": TOKEN},
    ):
        response = _get(guarded_server, path, **headers)
        assert response.status_code == 401
        assert _code(response) == "unauthorized"
        assert response.headers["www-authenticate"].startswith("Bearer")


def test_with_the_token_it_is_served(guarded_server: RunningServer) -> None:
    assert _get(guarded_server, _PATHS[0], **_BEARER).status_code == 200
    assert guarded_server.post(encode_message(Open()), **_BEARER).status_code == 200


def test_health_needs_no_token_and_says_nothing_else(guarded_server: RunningServer) -> None:
    response = _get(guarded_server)
    assert response.status_code == 200
    assert response.json() == {"status": "ok"}


def test_two_authorizations_are_none(guarded_server: RunningServer) -> None:
    with guarded_server.client() as client:
        pairs = [("Authorization", f"Bearer {TOKEN}"), ("Authorization", f"Bearer {TOKEN}")]
        assert client.get(_PATHS[0], headers=pairs).status_code == 401


def test_a_websocket_without_the_token_is_refused_before_it_opens(
    guarded_server: RunningServer,
) -> None:
    assert _handshake(guarded_server) == (401, "unauthorized")
    assert _handshake(guarded_server, Authorization="Bearer wrong") == (401, "unauthorized")
    assert _opens(guarded_server, additional_headers=_BEARER)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "x"])
@pytest.mark.parametrize("path", ["/health", *_PATHS])
def test_a_foreign_origin_is_refused(origin: str, path: str, open_server: RunningServer) -> None:
    response = _get(open_server, path, Origin=origin)
    assert response.status_code == 403
    assert _code(response) == "forbidden_origin"
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
def test_a_foreign_origin_opens_no_websocket(origin: str, open_server: RunningServer) -> None:
    assert _handshake(open_server, Origin=origin) == (403, "forbidden_origin")


def test_two_origins_are_refused(open_server: RunningServer) -> None:
    with open_server.client() as client:
        pairs = [("Origin", open_server.url), ("Origin", ALLOWED_ORIGIN)]
        assert client.get("/health", headers=pairs).status_code == 403


def test_the_own_origin_is_served_without_cors(open_server: RunningServer) -> None:
    response = _get(open_server, _PATHS[0], Origin=open_server.url, Sec_Fetch_Site="same-origin")
    assert response.status_code == 200
    assert "access-control-allow-origin" not in response.headers
    assert _opens(open_server, additional_headers={"Origin": open_server.url})


def test_https_on_the_same_address_is_another_origin(open_server: RunningServer) -> None:
    origin = open_server.url.replace("http:", "https:")
    assert _get(open_server, Origin=origin).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_browser_request_of_another_site_without_origin_is_refused(
    site: str, open_server: RunningServer
) -> None:
    response = _get(open_server, _PATHS[0], Sec_Fetch_Site=site)
    assert response.status_code == 403
    assert _code(response) == "forbidden_origin"


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_the_browsers_own_requests_are_served(site: str, open_server: RunningServer) -> None:
    assert _get(open_server, _PATHS[0], Sec_Fetch_Site=site).status_code == 200


@pytest.mark.parametrize(("path", "status"), [(_PATHS[0], 200), ("/nothing", 404)])
def test_an_allowed_origin_can_read_answers_and_errors(
    path: str, status: int, open_server: RunningServer
) -> None:
    response = _get(open_server, path, Origin=ALLOWED_ORIGIN, Sec_Fetch_Site="cross-site")
    assert response.status_code == status
    assert response.headers["access-control-allow-origin"] == ALLOWED_ORIGIN
    assert "Origin" in response.headers["vary"]
    assert "ETag" in response.headers["access-control-expose-headers"]
    assert "access-control-allow-credentials" not in response.headers


def test_an_allowed_origin_can_read_that_a_token_is_missing(guarded_server: RunningServer) -> None:
    response = _get(guarded_server, _PATHS[0], Origin=ALLOWED_ORIGIN)
    assert response.status_code == 401
    assert response.headers["access-control-allow-origin"] == ALLOWED_ORIGIN


def test_an_allowed_origin_opens_a_websocket(open_server: RunningServer) -> None:
    assert _opens(open_server, additional_headers={"Origin": ALLOWED_ORIGIN})


@pytest.mark.parametrize("server_name", ["open_server", "guarded_server"])
def test_preflights_of_allowed_origins_need_no_token(
    server_name: str, request: pytest.FixtureRequest
) -> None:
    server: RunningServer = request.getfixturevalue(server_name)
    asked = {
        "Origin": ALLOWED_ORIGIN,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,range",
        "Access-Control-Request-Private-Network": "true",
    }
    with server.client() as client:
        response = client.options("/api/v1/split/forward", headers=asked)
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == ALLOWED_ORIGIN
    assert response.headers["access-control-allow-private-network"] == "true"
    assert "POST" in response.headers["access-control-allow-methods"]


def test_preflights_of_foreign_origins_are_refused(open_server: RunningServer) -> None:
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    with open_server.client() as client:
        response = client.options("/api/v1/split/forward", headers=asked)
    assert response.status_code == 403
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "0.0.0.0:8095", "203.0.113.9", "a b", ""]
)
def test_a_rebound_host_is_refused(host: str, open_server: RunningServer) -> None:
    response = _get(open_server, _PATHS[0], Host=host)
    assert response.status_code == 403
    assert _code(response) == "forbidden_host"


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1234", "127.3.2.1:9", "[::1]:8095", "chat.example.org"]
)
def test_loopback_and_allowed_hosts_are_served(host: str, open_server: RunningServer) -> None:
    assert _get(open_server, _PATHS[0], Host=host).status_code == 200


@pytest.mark.parametrize("path", ["/health", "/ready"])
def test_a_health_check_needs_no_host_and_no_token(
    path: str, guarded_server: RunningServer
) -> None:
    """As HAProxy sends it, and with the name by which a balancer knows the machine."""
    for head in (
        f"GET {path} HTTP/1.0\r\n\r\n",
        f"GET {path} HTTP/1.1\r\nConnection: close\r\n\r\n",
        f"HEAD {path} HTTP/1.1\r\nHost: replica-2.internal\r\nConnection: close\r\n\r\n",
    ):
        assert guarded_server.raw(head.encode()).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("path", ["/health", "/ready"])
def test_a_browser_is_told_nothing_by_them_that_the_guards_would_not_let_through(
    path: str, open_server: RunningServer
) -> None:
    assert _get(open_server, path, Host="evil.example", Sec_Fetch_Mode="cors").status_code == 403
    assert _get(open_server, path, Sec_Fetch_Site="cross-site").status_code == 403
    assert _get(open_server, path, Origin="https://evil.example").status_code == 403
    allowed = _get(open_server, path, Origin=ALLOWED_ORIGIN)
    assert allowed.status_code == 200
    assert allowed.headers["access-control-allow-origin"] == ALLOWED_ORIGIN


def test_a_rebound_page_is_refused_although_it_looks_same_origin(
    open_server: RunningServer,
) -> None:
    headers = {"Host": "evil.example", "Origin": "http://evil.example"}
    response = _get(open_server, _PATHS[0], Sec_Fetch_Site="same-origin", **headers)
    assert _code(response) == "forbidden_host"


def test_a_rebinding_host_opens_no_websocket(open_server: RunningServer) -> None:
    with socket.create_connection(("127.0.0.1", open_server.port), timeout=10) as raw:
        raw.sendall(
            f"GET {STREAM_PATH} HTTP/1.1\r\nHost: evil.example\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        answer = raw.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 403")
    assert b"forbidden_host" in answer


@pytest.mark.parametrize("head", [f"GET {_PATHS[0]} HTTP/1.0\r\n\r\n", "two"])
def test_no_host_or_two_hosts_are_refused(head: str, open_server: RunningServer) -> None:
    if head == "two":
        head = "GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n"
    with socket.create_connection(("127.0.0.1", open_server.port), timeout=10) as raw:
        raw.sendall(head.encode())
        answer = raw.recv(4096)
    assert b"403" in answer.split(b"\r\n")[0] or b"400" in answer.split(b"\r\n")[0]


def test_forwarded_headers_are_not_believed(open_server: RunningServer) -> None:
    origin = open_server.url.replace("http:", "https:")
    response = _get(open_server, Origin=origin, X_Forwarded_Proto="https")
    assert response.status_code == 403


def test_a_session_belongs_to_the_principal_that_opened_it(peopled_server: RunningServer) -> None:
    alice = {"Authorization": "Bearer alice-has-this-token"}
    bob = {"Authorization": "Bearer bob-has-that-token-1"}
    reply = peopled_server.post(encode_message(Open()), **alice)
    opened = decode_server_message(reply.content, 1 << 20)
    assert isinstance(opened, Opened)
    size = peopled_server.parts.steps.info.hidden_size
    step = _step(opened.session, size, peopled_server.manifest)
    stolen = peopled_server.post(step, **bob)
    assert stolen.status_code == 404
    assert peopled_server.post(step, **alice).status_code == 200


def _step(session: str, hidden_size: int, manifest: str) -> bytes:
    rows = Tensor.from_f32(np.ones((1, hidden_size), np.float32), "f32")
    return encode_message(Step(session, 1, 0, PrefixChain(manifest).at(0), rows))


def test_every_answer_carries_the_security_headers(open_server: RunningServer) -> None:
    for path in ("/health", _PATHS[0], "/nothing"):
        response = _get(open_server, path)
        assert response.headers["cross-origin-resource-policy"] == "same-origin"
        assert response.headers["x-content-type-options"] == "nosniff"
        assert "server" not in response.headers


def test_tokens_never_reach_the_log(
    guarded_server: RunningServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("DEBUG"):
        _get(guarded_server, f"/weights/manifest.json?token={TOKEN}", **_BEARER)
        _get(guarded_server, "/weights/manifest.json", Authorization="Bearer not-the-real-token")
        # A file that is still being read is logged behind the refusal.
        logged(caplog, "/weights/manifest.json 200")
        text = logged(caplog, "/weights/manifest.json 401")
    assert "/weights/manifest.json 200" in text
    assert TOKEN not in text
    assert "not-the-real-token" not in text
