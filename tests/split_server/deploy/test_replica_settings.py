"""Settings of a replica in a cluster: what it takes, and what is the cluster's affair."""

from __future__ import annotations

from typing import Any

import pytest

from split_server.deploy.errors import DeploymentRefused
from split_server.deploy.replica_settings import replica_settings
from split_settings import BadValue, UnknownKey

_LIMIT = {"memory_limit": 1 << 30}


def test_arguments_are_keys_of_the_servers_table() -> None:
    config = replica_settings({**_LIMIT, "threads": 2, "allow_host": ["chat.example"]}, {}, "r1")
    assert (config.memory_limit, config.threads, config.replica) == (1 << 30, 2, "r1")
    assert config.hosts == ("chat.example",)


def test_a_variable_of_the_node_goes_before_the_arguments() -> None:
    environ = {"SPLIT_SERVER_THREADS": "3", "SPLIT_SERVER_TOKEN": "a-token"}
    config = replica_settings({**_LIMIT, "threads": 2}, environ)
    assert (config.threads, config.token) == (3, "a-token")


def test_without_a_limit_of_memory_nothing_starts() -> None:
    with pytest.raises(DeploymentRefused, match=r"memory_limit is missing.*ray_actor_options"):
        replica_settings({"threads": 2}, {})
    assert replica_settings({}, {"SPLIT_SERVER_MEMORY_LIMIT": "1000000"}).memory_limit == 1000000


def test_a_token_is_not_written_where_the_cluster_shows_it() -> None:
    with pytest.raises(DeploymentRefused, match="token_file") as raised:
        replica_settings({**_LIMIT, "token": "a-secret-token"}, {})
    assert "a-secret-token" not in str(raised.value)


@pytest.mark.parametrize(
    "given",
    [
        {"host": "192.168.1.7"},
        {"port": 9000},
        {"lan": True},
        {"tls": "on"},
        {"tls_cert": "a.pem"},
        {"ops_listen": "127.0.0.1:9095"},
        {"ollama_listen": "127.0.0.1:11434"},
        {"drain_delay": 5},
        {"replica": "mine"},
        {"balancer": ["10.0.0.1"]},
        {"memory_share": 0.5},
    ],
    ids=lambda given: next(iter(given)),
)
def test_what_the_cluster_decides_is_refused_by_name(given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises(DeploymentRefused, match=f"^{name}: "):
        replica_settings({**_LIMIT, **given}, {})


def test_what_the_cluster_decides_is_refused_in_variables_too() -> None:
    with pytest.raises(DeploymentRefused, match=r"^host, port: "):
        replica_settings(_LIMIT, {"SPLIT_SERVER_HOST": "10.0.0.7", "SPLIT_SERVER_PORT": "1"})


def test_an_unknown_argument_and_a_bad_one_are_named() -> None:
    with pytest.raises(UnknownKey, match=r"arguments of the application.*memory_limti"):
        replica_settings({"memory_limti": 1}, {})
    with pytest.raises(BadValue, match="memory_limit"):
        replica_settings({"memory_limit": "8 GiB"}, {})
