"""The command ``split-server`` where only the device client is installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

import split_server.commands
from split_server.cli import main

_CLIENT_ONLY = """
import sys
for name in ("torch", "transformers", "huggingface_hub", "safetensors", "starlette", "uvicorn",
             "llguidance", "prometheus_client", "cryptography", "psutil"):
    sys.modules[name] = None
from split_server.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("command", [["serve"], ["manifest"], ["plan"], ["--help"]])
def test_without_the_servers_packages_one_line_says_what_to_install(command: list[str]) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _CLIENT_ONLY, *command], capture_output=True, text=True, timeout=60
    )
    [line] = ran.stderr.splitlines()
    assert ran.returncode == 1
    assert "is not installed" in line
    assert "pip install 'gatelink[server]'" in line


def test_a_module_of_this_project_that_is_missing_is_a_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(_: object) -> int:
        raise ModuleNotFoundError("no such room", name="split_server.nowhere")

    monkeypatch.setattr(split_server.commands, "main", broken)
    with pytest.raises(ModuleNotFoundError):
        main([])
