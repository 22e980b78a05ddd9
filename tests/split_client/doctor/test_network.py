"""No way to the server: the URL, the name, the port."""

from __future__ import annotations

import socket

import pytest

from split_client.doctor.case import Case
from split_client.doctor.network import check_dns, check_tcp, check_url
from tests.split_client.doctor.examined import BRIEF, findings, named
from tests.split_client.doctor.fronts import black_hole
from tests.split_client.servers import unused_endpoint


def test_text_that_is_no_url_is_named() -> None:
    assert named(findings("ftp://example.org")) == {"url": "url_invalid"}


def test_a_port_where_nothing_listens_is_named_with_what_to_do() -> None:
    with unused_endpoint() as endpoint:
        found = findings(endpoint.url)
    assert named(found) == {"tcp": "nothing_listens"}
    assert str(endpoint.port) in found["tcp"].message
    assert "start split-server" in found["tcp"].advice


def test_a_black_hole_is_named_within_its_limit() -> None:
    with black_hole() as port:
        found = findings(f"http://127.0.0.1:{port}", BRIEF)
    assert named(found) == {"tcp": "no_answer"}
    assert "firewall" in found["tcp"].advice


def test_a_name_that_nobody_has_is_named() -> None:
    found = findings("http://no-such-machine.invalid:8095")
    assert named(found)["dns"] in ("unknown_host", "dns_unavailable")
    assert "no-such-machine.invalid" in found["dns"].message


def test_a_name_with_addresses_is_shown_with_them() -> None:
    with unused_endpoint() as endpoint:
        found = findings(f"http://localhost:{endpoint.port}")
    assert found["dns"].state == "ok"
    assert "127.0.0.1" in found["dns"].message


def test_the_cache_folder_is_examined_whatever_the_network_does() -> None:
    with unused_endpoint() as endpoint:
        found = findings(endpoint.url)
    assert list(found) == ["url", "dns", "tcp", "cache"]
    assert found["cache"].state == "ok"


def test_a_proxy_of_the_environment_is_examined_in_place_of_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with unused_endpoint() as endpoint:
        for name in ("http_proxy", "HTTP_PROXY"):
            monkeypatch.setenv(name, f"http://user:secret@127.0.0.1:{endpoint.port}")
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        found = findings("http://192.0.2.1:8095")
    assert f"through the proxy 127.0.0.1:{endpoint.port}" in found["url"].message
    assert named(found) == {"tcp": "nothing_listens"}
    assert "secret" not in "".join(finding.message for finding in found.values())


def test_a_proxy_that_the_http_library_cannot_use_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxies = {
            "http_proxy": f"http://127.0.0.1:{listener.getsockname()[1]}",
            "https_proxy": "gopher://127.0.0.1:70",
        }
        for name, value in proxies.items():
            monkeypatch.setenv(name, value)
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        found = findings("http://192.0.2.1:8095")
    assert named(found) == {"server": "check_failed"}
    assert "gopher" in found["server"].message


def test_a_dead_address_before_a_live_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        entries = [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in ("127.0.0.2", "127.0.0.1")
        ]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: entries)
        case = Case(f"http://two.example:{port}")
        check_url(case)
        check_dns(case)
        monkeypatch.undo()
        assert check_tcp(case).cause == "address_dead"
