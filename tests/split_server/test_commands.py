"""``split-server`` as its users run it: real processes, real exit statuses."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from split_server.commands import main
from tests.checkpoints import tiny_checkpoint

_SERVER = [sys.executable, "-c", "import sys; from split_server.cli import main; sys.exit(main())"]


@contextmanager
def _serving(*flags: str) -> Iterator[tuple[subprocess.Popen[str], str, list[str]]]:
    """A served process, its address and the lines before it."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("SPLIT_")}
    process = subprocess.Popen(
        [*_SERVER, "serve", "--port", "0", *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environ | {"PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    lines: list[str] = []
    try:
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            found = re.fullmatch(r"listening on (http://\S+)", lines[-1])
            if found:
                yield process, found[1], lines
                break
        else:
            raise AssertionError(process.communicate(timeout=60)[1])
    finally:
        process.kill()
        process.communicate(timeout=60)


def test_serve_announces_its_address_and_stops_on_a_signal(tiny_path: Path) -> None:
    with _serving("--model", str(tiny_path)) as (process, address, lines):
        assert httpx.get(f"{address}/health", trust_env=False).json() == {"status": "ok"}
        assert "tiny (qwen2, 3 layers, context 512), computing in f32" in lines[0]
        assert any("not confidentiality" in line for line in lines)
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=60)
        assert process.returncode == 0
        assert "Traceback" not in output + errors


def test_beyond_loopback_the_made_token_is_printed_and_needed(tiny_path: Path) -> None:
    flags = ("--model", str(tiny_path), "--host", "0.0.0.0", "--tls", "off")  # noqa: S104
    with _serving(*flags) as (process, address, lines):
        url = f"http://127.0.0.1:{address.rpartition(':')[2]}/weights/manifest.json"
        assert httpx.get(url, trust_env=False).status_code == 401
        (token,) = [line.removeprefix("token: ") for line in lines if line.startswith("token: ")]
        headers = {"Authorization": f"Bearer {token}"}
        assert httpx.get(url, trust_env=False, headers=headers).status_code == 200
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0
        assert token not in errors


def test_a_port_in_use_is_told_before_the_model_is_loaded(
    tiny_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["serve", "--model", str(tiny_path), "--port", port]) == 1
    errors = capsys.readouterr().err
    assert f"port {port}: Address already in use; choose another --port" in errors
    assert "[cannot_listen]" in errors


def test_an_unsupported_family_is_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tiny_checkpoint("gpt_neox", tmp_path / "c", num_key_value_heads=None)
    assert main(["serve", "--model", str(path), "--port", "0"]) == 1
    errors = capsys.readouterr().err
    assert "'gpt_neox'" in errors
    assert "qwen2" in errors


def test_a_folder_without_a_checkpoint_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["manifest", "--model", str(tmp_path)]) == 1
    assert "config.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    "flags",
    [
        ["--port", "70000"],
        ["--dtype", "int3"],
        ["--allow-origin", "*"],
        ["--allow-host", "192.168.1.20:8095"],
        ["--session-ttl", "0"],
    ],
)
def test_a_bad_setting_has_exit_status_two(
    flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *flags]) == 2
    assert flags[0] in capsys.readouterr().err


def test_a_web_root_without_the_app_is_told_before_the_model_is_loaded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["serve", "--model", str(tmp_path / "none"), "--port", "0"]
    assert main([*arguments, "--web-root", str(tmp_path)]) == 1
    assert "[web_root_unusable]" in capsys.readouterr().err


def test_settings_that_contradict_each_other_have_exit_status_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    token = "a-token-of-enough-length"
    assert main(["serve", "--token", token, "--no-auth"]) == 1
    errors = capsys.readouterr().err
    assert "--no-auth" in errors
    assert token not in errors


def test_manifest_prints_what_is_served(
    tiny_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["manifest", "--model", str(tiny_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["model"]["family"] == "qwen2"
    assert main(["manifest", "--model", str(tiny_path)]) == 0
    assert "embedding.bin" in capsys.readouterr().out
