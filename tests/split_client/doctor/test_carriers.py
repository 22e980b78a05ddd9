"""Proxies that let one way of carrying frames through and not the other."""

from __future__ import annotations

import socket

from tests.server_process import RunningServer
from tests.split_client.doctor.examined import findings, named
from tests.split_client.doctor.fronts import (
    Serve,
    accepting,
    compressing,
    without_posts,
    without_upgrades,
)


def test_a_proxy_without_websockets_is_warned_of_and_the_rest_goes_over_http(
    server: RunningServer, token: str
) -> None:
    with accepting(without_upgrades(server.port)) as port:
        found = findings(f"http://127.0.0.1:{port}", token=token)
    assert named(found) == {}
    assert named(found, "warning") == {"websocket": "websocket_blocked"}
    assert "falls back to HTTP" in found["websocket"].advice
    assert "what a chat uses here" in found["http"].message
    assert found["step"].state == "ok"


def test_without_websockets_a_chat_that_insists_on_them_is_told(
    server: RunningServer, token: str
) -> None:
    with accepting(without_upgrades(server.port)) as port:
        found = findings(f"http://127.0.0.1:{port}", token=token, transport="websocket")
    assert named(found) == {"websocket": "websocket_blocked"}
    assert "step" not in found


def test_a_proxy_without_posts_is_warned_of(server: RunningServer, token: str) -> None:
    with accepting(without_posts(server.port)) as port:
        found = findings(f"http://127.0.0.1:{port}", token=token)
    assert named(found) == {}
    assert named(found, "warning") == {"http": "post_blocked"}
    assert found["step"].state == "ok"


def test_a_proxy_without_either_is_named(server: RunningServer, token: str) -> None:
    def neither(port: int) -> Serve:
        upgrades, posts = without_upgrades(port), without_posts(port)

        def serve(near: socket.socket) -> None:
            is_post = near.recv(5, socket.MSG_PEEK) == b"POST "
            (posts if is_post else upgrades)(near)

        return serve

    with accepting(neither(server.port)) as port:
        found = findings(f"http://127.0.0.1:{port}", token=token)
    assert named(found) == {"http": "not_a_split_server"}
    assert named(found, "warning") == {"websocket": "websocket_blocked"}


def test_one_way_that_is_asked_for_is_the_only_one_examined(
    server: RunningServer, token: str
) -> None:
    found = findings(server.url, token=token, transport="http")
    assert (found["websocket"].state, found["http"].state) == ("skipped", "ok")
    assert found["step"].state == "ok"


def test_round_trips_are_measured(server: RunningServer, token: str) -> None:
    facts = findings(server.url, token=token)["latency"].facts
    assert 0 < float(facts["best_s"]) <= float(facts["median_s"]) < 2


def test_a_server_takes_up_no_compression(server: RunningServer, token: str) -> None:
    found = findings(server.url, token=token)
    assert found["deflate"].state == "ok"


def test_who_compresses_websockets_on_the_way_is_warned_of(
    server: RunningServer, token: str
) -> None:
    with accepting(compressing(server.port)) as port:
        found = findings(f"http://127.0.0.1:{port}", token=token)
    assert named(found) == {}
    assert named(found, "warning") == {"deflate": "compressed"}
    assert "Sec-WebSocket-Extensions" in found["deflate"].advice


def test_compression_is_not_looked_for_where_no_websocket_gets_through(
    server: RunningServer, token: str
) -> None:
    with accepting(without_upgrades(server.port)) as port:
        found = findings(f"http://127.0.0.1:{port}", token=token)
    assert found["deflate"].state == "skipped"
