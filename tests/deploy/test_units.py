"""The systemd units: valid, hardened, and started with settings that exist."""

from __future__ import annotations

import argparse
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from split_relay.config import RelayConfig
from split_server.commands import _parser
from split_server.serving.adapter_host.config import AdapterHostConfig
from split_server.serving.config import ServerConfig
from split_settings import add_arguments

_DEPLOY = Path(__file__).parents[2] / "deploy"
_UNITS = ("split-server", "split-adapters", "split-relay")
_HARDENING = {
    "DynamicUser": "yes",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "NoNewPrivileges": "yes",
    "CapabilityBoundingSet": "",
    "RestrictNamespaces": "yes",
    "SystemCallFilter": "@system-service",
    "Restart": "on-failure",
    "MemorySwapMax": "0",
}


def _settings(unit: str) -> dict[str, list[str]]:
    """Every directive with its values in order."""
    found: dict[str, list[str]] = {}
    for line in (_DEPLOY / f"{unit}.service").read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


@pytest.mark.parametrize("unit", _UNITS)
def test_a_unit_is_hardened(unit: str) -> None:
    settings = _settings(unit)
    assert {name: settings[name] for name in _HARDENING} == {
        name: [value] for name, value in _HARDENING.items()
    }
    assert settings["StateDirectory"] == [unit.replace("split", "gatelink")]
    assert settings["EnvironmentFile"] == [f"-/etc/gatelink/{unit.removeprefix('split-')}.env"]


def test_the_server_caches_in_the_folder_that_systemd_makes_for_it() -> None:
    settings = _settings("split-server")
    (folder,) = settings["CacheDirectory"]
    assert f"SPLIT_CACHE=%C/{folder}" in settings["Environment"]
    assert f"HF_HOME=%C/{folder}/hub" in settings["Environment"]


def test_stopping_takes_longer_than_the_grace_of_steps_and_connections() -> None:
    for unit, grace in (
        ("split-server", ServerConfig().shutdown_grace),
        ("split-adapters", AdapterHostConfig().shutdown_grace),
        ("split-relay", RelayConfig().grace),
    ):
        (patience,) = _settings(unit)["TimeoutStopSec"]
        assert float(patience) > grace + 1


def test_the_commands_of_the_units_have_flags_that_exist() -> None:
    (server,) = _settings("split-server")["ExecStart"]
    assert _parser().parse_args(shlex.split(server)[1:]).command == "serve"
    (adapters,) = _settings("split-adapters")["ExecStart"]
    assert _parser().parse_args(shlex.split(adapters)[1:]).command == "adapters"
    (relay,) = _settings("split-relay")["ExecStart"]
    parser = argparse.ArgumentParser()
    add_arguments(parser, RelayConfig)
    parser.parse_args(shlex.split(relay)[1:])


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
@pytest.mark.parametrize("unit", _UNITS)
def test_systemd_accepts_a_unit(unit: str, tmp_path: Path) -> None:
    text = (_DEPLOY / f"{unit}.service").read_text()
    installed = f"/opt/gatelink/.venv/bin/{unit.replace('adapters', 'server')}"
    assert installed in text
    # The program must exist where the unit is checked.
    checked = tmp_path / f"{unit}.service"
    checked.write_text(text.replace(installed, sys.executable))
    done = subprocess.run(
        ["systemd-analyze", "verify", str(checked)], capture_output=True, text=True
    )
    ours = [line for line in done.stderr.splitlines() if unit in line]
    assert ours == []
