"""TLS is on beyond loopback unless plain HTTP is asked for in words."""

from __future__ import annotations

import ipaddress
import socket
from pathlib import Path
from typing import Any

import pytest

from split_server.pairing.certificate import utc_now
from split_server.pairing.local_ca import LocalAuthority
from split_server.pairing.state import StateFolder
from split_server.security.access import AccessPolicy, ConflictingAccess
from split_server.security.host import lan_addresses
from split_server.serving import greeting as greeting_module
from split_server.serving.config import ServerConfig
from split_server.serving.doorway import EVERY_ADDRESS, Doorway, door_limits, open_doorway
from split_server.serving.greeting import contained, device_urls, greeting


def _doorway(tmp_path: Path, beside: str | None = None, **settings: Any) -> Doorway:
    return open_doorway(
        ServerConfig(state=tmp_path, **settings),
        lan=bool(settings.get("lan")),
        beside=beside,
        addresses=lambda: ["192.168.1.7"],
    )


def _second(doorway: Doorway) -> Doorway:
    assert doorway.beside is not None
    return doorway.beside


def test_loopback_is_plain_and_open_to_this_machine(tmp_path: Path) -> None:
    doorway = _doorway(tmp_path)
    assert (doorway.scheme, doorway.pairing, doorway.policy.tokens) == ("http", None, None)
    assert not doorway.exposed
    assert list(tmp_path.iterdir()) == []


def test_beyond_loopback_there_is_tls_a_token_and_pairing(tmp_path: Path) -> None:
    doorway = _doorway(tmp_path, host="192.168.1.7")
    assert doorway.scheme == "https"
    assert doorway.policy.made
    assert doorway.pairing is not None


def test_a_relay_in_front_of_loopback_gets_tls_and_tokens_on_request(tmp_path: Path) -> None:
    doorway = _doorway(tmp_path, tls="on")
    assert (doorway.host, doorway.scheme) == ("127.0.0.1", "https")
    assert doorway.policy.made
    assert doorway.pairing is not None


def test_lan_listens_everywhere(tmp_path: Path) -> None:
    assert _doorway(tmp_path, lan=True).host == EVERY_ADDRESS
    assert _doorway(tmp_path, lan=True, host="192.168.1.7").host == "192.168.1.7"


def test_plain_http_beyond_loopback_needs_words_and_is_warned_of(tmp_path: Path) -> None:
    doorway = _doorway(tmp_path, host="192.168.1.7", tls="off")
    assert doorway.exposed
    assert doorway.pairing is None
    with socket.create_server(("127.0.0.1", 0)) as opened:
        text = "\n".join(greeting(doorway, [opened]))
    assert "without TLS everybody on the way can read" in text


def test_addresses_that_the_local_authority_cannot_vouch_for_are_named_and_come_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "split_server.serving.greeting.lan_addresses", lambda: ["8.8.8.8", "10.0.0.4"]
    )
    doorway = _doorway(tmp_path, lan=True)
    with socket.create_server(("", 0)) as opened:
        port = opened.getsockname()[1]
        lines = greeting(doorway, [opened])
        urls = device_urls(doorway, [opened])
    assert urls == [f"https://10.0.0.4:{port}", f"https://8.8.8.8:{port}"]
    (warning,) = [line for line in lines if line.startswith("warning")]
    assert "8.8.8.8 is no address of a local network" in warning


def test_without_tokens_there_is_nothing_to_pair_for(tmp_path: Path) -> None:
    assert _doorway(tmp_path, host="192.168.1.7", auth=False).pairing is None


def test_a_certificate_of_ones_own_needs_no_authority(tmp_path: Path) -> None:
    authority = LocalAuthority.open(StateFolder(tmp_path / "ca"), utc_now())
    issued = authority.issue(["localhost"], [], utc_now())
    (tmp_path / "c.pem").write_bytes(issued.certificate)
    (tmp_path / "k.pem").write_bytes(issued.key)
    doorway = _doorway(tmp_path, tls_cert=tmp_path / "c.pem", tls_key=tmp_path / "k.pem")
    assert doorway.scheme == "https"
    assert doorway.certificate is None
    assert not (tmp_path / "ca.pem").exists()


@pytest.mark.parametrize(
    "settings",
    [
        {"tls": "off", "lan": True},
        {"tls_cert": Path("c.pem")},
        {"tls_key": Path("k.pem")},
        {"tls": "off", "tls_cert": Path("c.pem"), "tls_key": Path("k.pem")},
    ],
)
def test_settings_that_contradict_each_other_are_refused(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    with pytest.raises(ConflictingAccess):
        _doorway(tmp_path, **settings)


def test_a_server_for_every_address_names_those_that_others_can_use() -> None:
    doorway = Doorway(EVERY_ADDRESS, AccessPolicy(None))
    with socket.create_server(("", 0)) as wildcard:
        lines = greeting(doorway, [wildcard])
        urls = device_urls(doorway, [wildcard])
        port = wildcard.getsockname()[1]
    assert lines[-1] == f"listening on http://0.0.0.0:{port}"
    assert sorted(urls) == sorted(f"http://{address}:{port}" for address in lan_addresses())
    for url in urls:
        assert f"reachable at {url}" in lines
        assert not ipaddress.ip_address(url.split("/")[2].rpartition(":")[0]).is_loopback


def test_in_a_container_the_greeting_says_which_variable_names_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everywhere, here = Doorway(EVERY_ADDRESS, AccessPolicy(None)), _doorway(tmp_path)
    monkeypatch.setattr(greeting_module, "_CONTAINERS", (tmp_path / "mark",))
    assert contained((), everywhere) == []
    (tmp_path / "mark").write_text("")
    (line,) = contained((), everywhere)
    assert "SPLIT_SERVER_ALLOW_HOST" in line
    assert contained(("192.168.1.20",), everywhere) == []
    assert contained((), here) == []


def test_a_balancer_is_an_ip_address() -> None:
    config = ServerConfig(balancer=("127.0.0.1",), max_connections_per_address=32)
    limits = door_limits(config)
    assert (limits.per_address, limits.strangers_per_address) == (32, 32)
    assert tuple(limits.balancers) == ("127.0.0.1",)


def test_a_second_listener_on_loopback_is_plain_and_has_the_tokens_of_the_first(
    tmp_path: Path,
) -> None:
    alone = _doorway(tmp_path, beside="127.0.0.1")
    assert (alone.scheme, _second(alone).scheme, alone.policy.tokens) == ("http", "http", None)
    doorway = _doorway(tmp_path, beside="127.0.0.1", lan=True)
    assert (doorway.scheme, _second(doorway).scheme) == ("https", "http")
    assert _second(doorway).policy is doorway.policy
    assert doorway.policy.tokens is not None


def test_a_second_listener_beyond_loopback_has_tls_and_both_ask_for_a_token(
    tmp_path: Path,
) -> None:
    doorway = _doorway(tmp_path, beside="192.168.1.7")
    second = _second(doorway)
    assert (doorway.scheme, second.scheme) == ("http", "https")
    assert doorway.policy.made
    assert second.policy is doorway.policy
    # Kept up to date for as long as it is used; devices pair over the first alone.
    assert doorway.certificate is not None
    assert doorway.pairing is None
    with (
        socket.create_server(("127.0.0.1", 0)) as first,
        socket.create_server(("127.0.0.1", 0)) as other,
    ):
        lines = greeting(doorway, [first], [other])
        port = other.getsockname()[1]
    assert f"Ollama's API alone on https://127.0.0.1:{port}" in lines
    assert lines[-1].startswith("listening on http://127.0.0.1:")


def test_a_second_listener_that_lets_everybody_in_is_told_of(tmp_path: Path) -> None:
    doorway = _doorway(tmp_path, beside="192.168.1.7", auth=False, tls="off")
    assert doorway.policy.open_to_network
    assert _second(doorway).exposed
    with socket.create_server(("127.0.0.1", 0)) as opened:
        text = "\n".join(greeting(doorway, [opened], [opened]))
    assert "--no-auth lets everyone" in text
    assert "without TLS everybody on the way can read" in text


def test_tls_for_both_is_asked_for_in_words(tmp_path: Path) -> None:
    doorway = _doorway(tmp_path, beside="127.0.0.1", tls="on")
    assert (doorway.scheme, _second(doorway).scheme) == ("https", "https")
