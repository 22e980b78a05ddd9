"""Where health and metrics may be served by themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from split_server.http.wire.server import CannotListen, listening
from split_server.metrics.readiness import early_exposition
from split_server.security.access import AccessPolicy, ConflictingAccess
from split_server.security.principal import ANONYMOUS
from split_server.security.tokens import single_token
from split_server.serving.config import ServerConfig
from split_server.serving.lifecycle.gate import Gate
from split_server.serving.lifecycle.ops import ops_listening, ops_urls, require_ops
from split_server.serving.listen_config import ops_address

_TOKEN = AccessPolicy(single_token("a-token-of-enough-length"))


@pytest.mark.parametrize(
    "text",
    ["127.0.0.1:9095", "localhost:1", "[::1]:9095", "10.1.2.3:80", "172.31.0.1:80", "[fd00::2]:80"],
)
def test_loopback_and_private_addresses_are_taken(text: str) -> None:
    assert ops_address(f" {text} ") == text


@pytest.mark.parametrize(
    "text",
    ["0.0.0.0:9095", "[::]:9095", "203.0.113.7:80", "[2001:db8::1]:80", "[::ffff:8.8.8.8]:80"],
)
def test_addresses_that_everybody_reaches_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="loopback and private addresses alone"):
        ops_address(text)


@pytest.mark.parametrize("text", ["chat.example.org:80", "127.0.0.1", "", "127.0.0.1:99999"])
def test_what_is_no_address_and_port_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write it like"):
        ops_address(text)


def test_beyond_loopback_there_has_to_be_a_token_to_ask_for() -> None:
    private = ServerConfig(ops_listen="10.1.2.3:9095")
    with pytest.raises(ConflictingAccess, match="--token"):
        require_ops(private, AccessPolicy(None))
    assert require_ops(private, _TOKEN) is not None
    unguarded = ServerConfig(ops_listen="10.1.2.3:9095", auth=False)
    assert require_ops(unguarded, AccessPolicy(None, everyone=ANONYMOUS)) is not None
    loopback = ServerConfig(ops_listen="127.0.0.1:9095")
    assert require_ops(loopback, AccessPolicy(None)) is not None
    assert require_ops(ServerConfig(), AccessPolicy(None)) is None


def test_targets_without_a_listener_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConflictingAccess, match="--ops-listen"):
        require_ops(ServerConfig(ops_targets=tmp_path), AccessPolicy(None))


def test_a_port_in_use_is_told_with_the_setting_that_names_it(tmp_path: Path) -> None:
    with listening("127.0.0.1", 0) as taken:
        port = taken[0].getsockname()[1]
        settings: dict[str, Any] = {"ops_targets": tmp_path}
        config = ServerConfig(ops_listen=f"127.0.0.1:{port}", **settings)
        with (
            pytest.raises(CannotListen, match="choose another --ops-listen"),
            ops_listening(config, _TOKEN, Gate()),
        ):
            pytest.fail("it cannot listen")
    assert list(tmp_path.iterdir()) == []


def test_its_address_is_told_with_the_port_that_was_free() -> None:
    with ops_listening(ServerConfig(ops_listen="127.0.0.1:0"), _TOKEN, Gate()) as beside:
        (url,) = ops_urls(beside)
        assert int(url.rpartition(":")[2]) > 0


def test_before_the_application_is_there_its_process_is_told() -> None:
    text = early_exposition().decode()
    assert "split_ready 0.0" in text
    assert "process_start_time_seconds" in text
    assert Gate().exposition().startswith(b"#")
