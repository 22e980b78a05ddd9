"""The manifest: no root, nothing writable, limits, settings that exist, and the shipped HAProxy."""

from __future__ import annotations

import re
from typing import Any

import pytest

from scripts.deploying.kubernetes import documents, haproxy_text
from scripts.deploying.shipped import HAPROXY
from split_server.commands import _parser
from split_server.serving.config import ServerConfig

_SERVER, _BALANCER = "gatelink-server", "gatelink-haproxy"
# Of a machine alone, or of one whose replicas have addresses.
_OF_A_MACHINE = ("user ", "group ", "chroot ", "stats socket ", "log ", "bind ", "server ", "#")


def _object(kind: str, name: str) -> dict[str, Any]:
    return next(
        one for one in documents() if (one["kind"], one["metadata"]["name"]) == (kind, name)
    )


def _pod(kind: str, name: str) -> dict[str, Any]:
    spec: dict[str, Any] = _object(kind, name)["spec"]["template"]["spec"]
    return spec


_PODS = [("StatefulSet", _SERVER), ("Deployment", _BALANCER)]


@pytest.mark.parametrize(("kind", "name"), _PODS)
def test_a_pod_runs_without_root_and_writes_to_its_volumes_alone(kind: str, name: str) -> None:
    pod = _pod(kind, name)
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    for container in pod["containers"]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        # The server plans within it; without one it would plan with the node's.
        assert container["resources"]["limits"]["memory"]


def test_the_settings_of_replicas_exist() -> None:
    (container,) = _pod("StatefulSet", _SERVER)["containers"]
    given = [word.replace("$(POD_IP)", "10.1.2.3") for word in container["args"]]
    told = _parser().parse_args(
        [word.replace("$(POD_NAME)", "gatelink-server-0") for word in given]
    )
    assert told.command == "serve"
    assert told.ops_listen == "10.1.2.3:9095"
    for one in container["env"]:
        if one["name"].startswith("SPLIT_SERVER_"):
            field = one["name"].removeprefix("SPLIT_SERVER_").lower()
            assert field in ServerConfig.__dataclass_fields__, field


def test_a_replica_has_the_time_to_drain() -> None:
    pod = _pod("StatefulSet", _SERVER)
    delay = float(pod["containers"][0]["args"][-1])
    assert pod["terminationGracePeriodSeconds"] > delay + ServerConfig().shutdown_grace + 1


def test_probes_ask_the_listener_that_no_device_can_fill() -> None:
    (container,) = _pod("StatefulSet", _SERVER)["containers"]
    ports = {one["name"]: one["containerPort"] for one in container["ports"]}
    assert ports == {"http": ServerConfig().port, "ops": 9095}
    paths = {
        name: container[name]["httpGet"]
        for name in ("startupProbe", "readinessProbe", "livenessProbe")
    }
    assert {name: one["port"] for name, one in paths.items()} == dict.fromkeys(paths, "ops")
    assert paths["livenessProbe"]["path"] == "/health"
    assert paths["readinessProbe"]["path"] == paths["startupProbe"]["path"] == "/ready"


def test_a_replica_that_drains_keeps_its_address() -> None:
    service = _object("Service", "gatelink-replicas")["spec"]
    assert service["clusterIP"] == "None"
    assert service["publishNotReadyAddresses"] is True
    assert _object("StatefulSet", _SERVER)["spec"]["serviceName"] == "gatelink-replicas"


def test_the_haproxy_of_the_manifest_is_the_shipped_one() -> None:
    theirs = re.sub(r"^resolvers .*?\n\n", "", haproxy_text(), flags=re.MULTILINE | re.DOTALL)
    assert _policy(theirs) == _policy(HAPROXY.read_text())


def test_the_haproxy_of_the_manifest_knows_replicas_by_the_same_names_in_both_backends() -> None:
    found = re.findall(r"^    server (r\d\d) (\S+):8095 (.*)$", haproxy_text(), re.MULTILINE)
    half = len(found) // 2
    assert [one[:2] for one in found[:half]] == [one[:2] for one in found[half:]]
    wanted = [f"{_SERVER}-{n}.gatelink-replicas.gatelink.svc.cluster.local" for n in range(half)]
    assert [host for _, host, _ in found[:half]] == wanted
    assert [one[2] for one in found[half:]] == [f"track sockets/{one[0]}" for one in found[:half]]


def _policy(text: str) -> list[str]:
    """What a configuration does, addresses and comments left out."""
    lines = [line.strip() for line in text.splitlines()]
    kept = [line for line in lines if line and not line.startswith(_OF_A_MACHINE)]
    return [line.removesuffix(" resolvers cluster init-addr none") for line in kept]
