"""Something answers: another program, one that refuses, one whose clock differs."""

from __future__ import annotations

import socket
import threading
import time
from typing import Any

import pytest

from split_client.doctor.case import Limits
from split_wire.errors import Overloaded, ShuttingDown
from tests.end_to_end.relays import running_relay
from tests.server_process import RunningServer
from tests.split_client.doctor.examined import BRIEF, findings, named
from tests.split_client.doctor.fronts import accepting, hanging_up, saying
from tests.split_client.servers import deaf_server, http_server, respond, unused_endpoint


def test_another_web_server_is_named_and_sees_no_token(token: str) -> None:
    heads: list[str] = []

    def page(handler: Any) -> None:
        heads.append(str(handler.headers))
        respond(handler, 200, b"<h1>It works</h1>", "text/html")

    with http_server(get=page) as endpoint:
        found = findings(endpoint.url, token=token)
    assert named(found) == {"server": "not_a_split_server"}
    assert "BaseHTTP" in found["server"].message
    assert heads
    assert not any(token in head for head in heads)


def test_a_program_that_is_no_web_server_is_named_by_its_banner() -> None:
    with accepting(saying(b"SSH-2.0-OpenSSH_9.9\r\n")) as port:
        found = findings(f"http://127.0.0.1:{port}")
    assert named(found) == {"server": "not_http"}
    assert "SSH-2.0-OpenSSH_9.9" in found["server"].message


def test_a_server_that_drops_connections_is_named() -> None:
    with accepting(hanging_up) as port:
        assert named(findings(f"http://127.0.0.1:{port}")) == {"server": "dropped"}


def test_a_server_that_never_answers_is_named_within_its_limit() -> None:
    with deaf_server() as endpoint:
        assert named(findings(endpoint.url, BRIEF)) == {"server": "silent"}


def test_a_server_that_answers_without_end_is_left_in_time() -> None:
    enough = threading.Event()

    def drip(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        while not enough.wait(0.05):
            handler.wfile.write(b" ")
        handler.close_connection = True

    with http_server(get=drip) as endpoint:
        found = findings(endpoint.url, BRIEF)
        enough.set()
    assert named(found) == {"server": "too_slow"}


def test_a_redirect_is_named_with_its_aim() -> None:
    def moved(handler: Any) -> None:
        respond(handler, 308, b"", Location="https://new.example.org/health")

    with http_server(get=moved) as endpoint:
        found = findings(endpoint.url)
    assert named(found) == {"server": "redirected"}
    assert "new.example.org" in found["server"].message


@pytest.mark.parametrize(("status", "cause"), [(502, "gateway"), (407, "login_needed")])
def test_something_in_between_is_named(status: int, cause: str) -> None:
    with http_server(get=lambda handler: respond(handler, status, b"no")) as endpoint:
        assert named(findings(endpoint.url)) == {"server": cause}


@pytest.mark.parametrize("error", [ShuttingDown(), Overloaded("too many requests")])
def test_a_server_that_refuses_in_its_own_words_is_named_by_its_code(
    error: ShuttingDown | Overloaded,
) -> None:
    body = f'{{"error": {{"code": "{error.code}", "message": "{error}", "retryable": true}}}}'

    with http_server(get=lambda handler: respond(handler, 503, body.encode())) as endpoint:
        assert named(findings(endpoint.url)) == {"server": error.code}


def test_a_host_name_that_the_server_does_not_serve_is_named(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = socket.getaddrinfo
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *rest, **more: real(
            "127.0.0.1" if host in ("chat.example", b"chat.example") else host, *rest, **more
        ),
    )
    found = findings(f"http://chat.example:{server.port}")
    # A health check is answered whatever it calls the machine.
    assert named(found) == {"token": "forbidden_host"}
    assert "--allow-host" in found["token"].advice


@pytest.mark.parametrize(
    ("status", "body", "found"),
    [
        (503, b'{"status": "unready"}', {"server": "not_ready"}),
        (200, b'{"status": "ready"}', {}),
        (404, b"{}", {}),
        (503, b"gateway", {}),
    ],
)
def test_a_server_that_wants_no_new_sessions_is_named(
    status: int, body: bytes, found: dict[str, str]
) -> None:
    def answer(handler: Any) -> None:
        if handler.path == "/ready":
            respond(handler, status, body)
        else:
            respond(handler, 200, b'{"status": "ok"}' if handler.path == "/health" else b"{}")

    with http_server(get=answer) as endpoint:
        assert named(findings(endpoint.url), "warning") == found


def test_a_relay_without_its_server_is_named() -> None:
    with unused_endpoint() as endpoint, running_relay(endpoint.port) as url:
        found = findings(url, Limits(answer=20.0))
    assert named(found) == {"server": "upstream_unavailable"}
    assert "start the server" in found["server"].advice


@pytest.mark.parametrize(
    ("seconds", "words"), [(7200, "2 hours ahead of"), (-3 * 86400, "3 days behind")]
)
def test_a_clock_that_differs_is_named_and_ends_nothing(
    server: RunningServer, token: str, seconds: int, words: str
) -> None:
    found = findings(server.url, token=token, wall=lambda: time.time() + seconds)
    assert named(found, "warning") == {"clock": "clock_skew"}
    assert words in found["clock"].message
    assert named(found) == {}
    assert "step" in found


def test_a_server_without_a_date_leaves_the_clock_unexamined() -> None:
    def undated(handler: Any) -> None:
        body = b'{"status": "ok"}' if handler.path == "/health" else b"{}"
        handler.send_response_only(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    with http_server(get=undated) as endpoint:
        assert findings(endpoint.url)["clock"].state == "skipped"
