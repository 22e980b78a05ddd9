"""The process of a server: what is told before anything large is loaded, and who is invited."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from split_server.pairing.beacon import running
from split_server.pairing.state import StateFolder
from split_server.security.access import ConflictingAccess
from split_server.serving.config import ServerConfig
from split_server.serving.doorway import open_doorway
from split_server.serving.process import invited, ollama_address

_IMPORTED = "import sys, split_server.serving.process; print('torch' in sys.modules)"


def test_the_port_can_be_taken_before_torch_is_imported() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _IMPORTED], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


_REFUSED = """
import sys
from split_server.commands import main
status = main(sys.argv[1:])
print(status, [name for name in ("torch", "transformers") if name in sys.modules])
"""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("serve", "--port", "0", "--model", "./missing"), "checkpoint_not_found"),
        (("serve", "--port", "0", "--adapters", "./missing"), "adapters_not_found"),
        (("serve", "--port", "0", "--web-root", "./missing"), "web_root_unusable"),
        (("plan", "--model", "./missing"), "checkpoint_not_found"),
    ],
)
def test_a_wrong_folder_is_told_before_torch_is_imported(
    tmp_path: Path, arguments: tuple[str, ...], code: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _REFUSED, *arguments], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout == "1 []\n"
    assert f"[{code}]" in done.stderr


def _invited(
    monkeypatch: pytest.MonkeyPatch, addresses: list[str], **settings: Any
) -> tuple[str, int]:
    """What is told to the operator of a machine with ``addresses``; the port."""
    monkeypatch.setattr("split_server.serving.greeting.lan_addresses", lambda: addresses)
    config = ServerConfig(lan=True, **settings)
    doorway = open_doorway(config, lan=True, addresses=lambda: addresses)
    with socket.create_server(("", 0)) as opened:
        return "\n".join(invited(config, doorway, [opened])), opened.getsockname()[1]


def test_lan_shows_a_code_for_the_address_that_devices_will_believe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, port = _invited(monkeypatch, ["198.51.100.7", "10.0.0.4"], state=tmp_path)
    assert "█" in text
    assert f"split-client pair 'https://10.0.0.4:{port}/pair#" in text


def test_lan_shows_no_code_for_an_address_that_nobody_vouches_for_and_says_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, _ = _invited(monkeypatch, ["198.51.100.7"], state=tmp_path)
    assert "█" not in text
    assert "/pair#" not in text
    for words in ("no QR code", "198.51.100.7", "--tls-cert", "split-server pair --url"):
        assert words in text


def test_lan_shows_a_code_for_the_public_address_which_the_certificate_is_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = "https://box.lan:8443"
    for name in ("a", "b"):
        text, port = _invited(
            monkeypatch, ["10.0.0.4"], state=tmp_path, public_url=public, replica=name
        )
        assert f"split-client pair '{public}/pair#" in text
        assert "certificate authority" in text
        assert str(port) not in text
    assert running(StateFolder(tmp_path)).replicas == ("b", "a")


def test_lan_without_a_network_says_so_and_serves_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, _ = _invited(monkeypatch, [], state=tmp_path)
    assert "join a network" in text


def test_a_listener_of_a_text_api_needs_the_text_apis() -> None:
    assert ollama_address(ServerConfig()) is None
    address = ollama_address(ServerConfig(ollama_listen="[::1]:11434"))
    assert address is not None
    assert (address.host, address.port) == ("::1", 11434)
    with pytest.raises(ConflictingAccess, match="--no-compat"):
        ollama_address(ServerConfig(ollama_listen="127.0.0.1:11434", compat=False))


def test_a_port_in_use_is_told_with_the_setting_that_names_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        arguments = ("serve", "--port", "0", "--model", "./missing", "--ollama-listen", place)
        done = subprocess.run(
            [sys.executable, "-c", _REFUSED, *arguments], capture_output=True, text=True
        )
    assert "[cannot_listen]" in done.stderr
    assert "choose another --ollama-listen" in done.stderr
