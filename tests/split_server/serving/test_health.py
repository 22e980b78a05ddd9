"""The health check follows the address, port and TLS of the server beside it."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from split_server.commands import main
from split_server.serving.config import ServerConfig
from split_server.serving.health import (
    AddressFileUnusable,
    Unhealthy,
    here,
    leave_addresses,
    require_health,
)
from tests.server_process import RunningServer, running_server


def test_it_asks_where_the_settings_lead(open_server: RunningServer) -> None:
    url = require_health(ServerConfig(port=open_server.port))
    assert url == f"http://127.0.0.1:{open_server.port}"


def test_it_speaks_tls_where_the_server_does(tiny_path: Path, tmp_path: Path) -> None:
    with running_server(tiny_path, compat=False, tls="on", state=tmp_path) as secure:
        assert require_health(ServerConfig(port=secure.port, tls="on")).startswith("https://")
        everywhere = ServerConfig(port=secure.port, host="0.0.0.0")  # noqa: S104
        assert require_health(everywhere) == f"https://127.0.0.1:{secure.port}"
        with pytest.raises(Unhealthy, match="no answer"):
            require_health(ServerConfig(port=secure.port))


def test_the_address_that_a_server_left_counts_before_settings(
    open_server: RunningServer, tmp_path: Path
) -> None:
    file = tmp_path / "run" / "address"
    leave_addresses(file, [f"http://0.0.0.0:{open_server.port}"])
    config = ServerConfig(port=1, tls="on", address_file=file)
    assert require_health(config) == f"http://127.0.0.1:{open_server.port}"


def test_a_server_that_still_loads_is_not_healthy(tmp_path: Path) -> None:
    leave_addresses(tmp_path / "address", [])
    with pytest.raises(Unhealthy, match="does not listen yet"):
        require_health(ServerConfig(address_file=tmp_path / "address"))


def test_before_the_server_listens_it_is_not_healthy(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(Unhealthy, match="no answer"):
            require_health(ServerConfig(port=port, address_file=tmp_path / "none"), seconds=0.05)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"urls": [5]}', '{"urls": ["http://a:b"]}'])
def test_a_damaged_address_file_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "address"
    file.write_text(text)
    with pytest.raises(AddressFileUnusable, match="address"):
        require_health(ServerConfig(address_file=file))


def test_an_address_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(AddressFileUnusable, match="--address-file"):
        leave_addresses(tmp_path / "file" / "address", ["http://127.0.0.1:1"])


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://0.0.0.0:9000", "https://127.0.0.1:9000"),
        ("http://[::]:9000", "http://[::1]:9000"),
        ("http://172.17.0.2:9000", "http://172.17.0.2:9000"),
        ("http://localhost:9000", "http://localhost:9000"),
    ],
)
def test_every_address_is_asked_over_loopback(url: str, expected: str) -> None:
    assert here(url) == expected


def test_the_command_reads_variables_and_has_an_exit_status(
    open_server: RunningServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPLIT_SERVER_PORT", str(open_server.port))
    assert main(["health"]) == 0
    assert capsys.readouterr().out == f"http://127.0.0.1:{open_server.port} serves\n"
    monkeypatch.setenv("SPLIT_SERVER_TLS", "on")
    assert main(["health"]) == 1
    assert "[unhealthy]" in capsys.readouterr().err
