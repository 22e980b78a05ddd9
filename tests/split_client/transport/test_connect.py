"""The choice of a transport, and when a proxy is the only way out."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from split_client.errors import ServerUnreachable, UpgradeRefused
from split_client.transport import connect as connect_module
from split_client.transport.connect import connector
from split_client.transport.endpoint import Endpoint
from split_client.transport.proxies import has_proxy
from split_client.transport.routing.route import Route
from split_wire.codec import encode_message
from split_wire.messages import Ping, Pong
from tests.split_client.servers import http_server, not_found, posting

VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.parametrize(
    ("variable", "url", "proxied"),
    [
        ("http_proxy", "http://chat.example.org", True),
        ("https_proxy", "https://chat.example.org", True),
        ("https_proxy", "http://chat.example.org", False),
        ("all_proxy", "https://chat.example.org", True),
        ("http_proxy", "http://127.0.0.1:8095", False),
        ("http_proxy", "http://localhost:8095", False),
    ],
)
def test_a_proxy_counts_for_its_scheme_and_never_for_this_machine(
    monkeypatch: pytest.MonkeyPatch, variable: str, url: str, proxied: bool
) -> None:
    monkeypatch.setenv(variable, "http://proxy.example.org:3128")
    assert has_proxy(Endpoint.parse(url)) == proxied


def test_a_host_that_the_proxy_is_not_for_goes_direct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.example.org:3128")
    monkeypatch.setenv("no_proxy", "chat.example.org")
    assert not has_proxy(Endpoint.parse("http://chat.example.org"))


def test_an_unreachable_server_is_named_so(closed_port: int) -> None:
    connect = connector(Endpoint.parse(f"http://127.0.0.1:{closed_port}"), None, 1000)
    with pytest.raises(ServerUnreachable):
        connect("websocket", 1.0)


def test_where_only_a_proxy_leads_out_the_websocket_leaves_the_way_to_http(
    monkeypatch: pytest.MonkeyPatch, closed_port: int
) -> None:
    monkeypatch.setattr(connect_module, "has_proxy", lambda _: True)
    connect = connector(Endpoint.parse(f"http://127.0.0.1:{closed_port}"), None, 1000)
    with pytest.raises(UpgradeRefused):
        connect("websocket", 1.0)


def test_a_routing_id_goes_with_frames_as_it_is_when_a_connection_is_made() -> None:
    seen: list[str] = []
    route = Route("AAAAAAAAAAAAAAAAAAAAAA")

    def get(handler: Any) -> None:
        seen.append(handler.path)
        not_found(handler)

    def post(handler: Any) -> None:
        seen.append(handler.path)
        posting(lambda _: encode_message(Pong()))(handler)

    with http_server(get, post) as endpoint:
        below = Endpoint.parse(f"{endpoint.url}/below")
        connect = connector(below, "secret", 1000, route)
        with pytest.raises(UpgradeRefused):
            connect("websocket", 5.0)
        transport = connect("http", 5.0)
        route.change("BBBBBBBBBBBBBBBBBBBBBA")
        for _ in range(2):
            transport.exchange(encode_message(Ping()), 5.0)
        transport.close()
        transport = connect("http", 5.0)
        transport.exchange(encode_message(Ping()), 5.0)
        transport.close()
    stream, forward = "/below/api/v1/split/stream", "/below/api/v1/split/forward"
    first, second = "?s=AAAAAAAAAAAAAAAAAAAAAA", "?s=BBBBBBBBBBBBBBBBBBBBBA"
    assert seen == [stream + first, forward + first, forward + first, forward + second]
