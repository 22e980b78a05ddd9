"""The unit of replicas: hardened as the server's own, on one state, with settings that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from split_server.commands import _parser
from split_server.serving.config import ServerConfig

_DEPLOY = Path(__file__).parents[2] / "deploy"
_TEMPLATE = (_DEPLOY / "split-server@.service").read_text()
# What a replica has otherwise than a server that stands alone.
_OWN = {
    "Description",
    "ExecStart",
    "EnvironmentFile",
    "Environment",
    "TimeoutStopSec",
    "MemoryMax",
    "User",
    "StateDirectory",
    "CacheDirectory",
}


def _settings(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in text.replace("\\\n", " ").splitlines():
        if "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


def _replica(number: str) -> list[str]:
    (command,) = _settings(_TEMPLATE)["ExecStart"]
    return shlex.split(command.replace("%i", number))[1:]


def test_a_replica_is_hardened_as_the_server_is() -> None:
    replica, server = (
        _settings(_TEMPLATE),
        _settings((_DEPLOY / "split-server.service").read_text()),
    )
    assert {name for name in replica | server if replica.get(name) != server.get(name)} <= _OWN


def test_replicas_listen_on_ports_of_their_own_and_behind_a_balancer() -> None:
    one, two = (_parser().parse_args(_replica(number)) for number in ("01", "02"))
    assert (one.port, two.port) == ("8101", "8102")
    assert (one.ops_listen, two.ops_listen) == ("127.0.0.1:9101", "127.0.0.1:9102")
    assert one.replica != two.replica
    assert "127.0.0.1" in one.balancer


def test_replicas_are_one_user_on_one_state_which_outlives_them() -> None:
    settings = _settings(_TEMPLATE)
    assert settings["DynamicUser"] == ["yes"]
    assert settings["User"] == ["gatelink-replicas"]
    assert settings["StateDirectory"] == settings["CacheDirectory"] == ["gatelink-replicas"]
    assert "SPLIT_SERVER_STATE=%S/gatelink-replicas/state" in settings["Environment"]


def test_a_replica_starts_with_its_tokens_and_a_limit_of_memory_or_not_at_all() -> None:
    settings = _settings(_TEMPLATE)
    assert settings["EnvironmentFile"] == ["/etc/gatelink/replicas.env"]
    assert re.fullmatch(r"\d+%", settings["MemoryMax"][0])


def test_stopping_takes_longer_than_the_drain_and_the_grace() -> None:
    (patience,) = _settings(_TEMPLATE)["TimeoutStopSec"]
    drain = float(_parser().parse_args(_replica("01")).drain_delay)
    assert float(patience) > drain + ServerConfig().shutdown_grace + 1


def test_the_ports_are_those_of_the_balancer() -> None:
    text = (_DEPLOY / "haproxy.cfg").read_text()
    for number in ("01", "02"):
        replica = _parser().parse_args(_replica(number))
        ops = replica.ops_listen.rpartition(":")[2]
        assert f"server r{number} 127.0.0.1:{replica.port} check port {ops}\n" in text
