"""The server as the image starts it: its variables, its health check, hosts that were named.

The image itself is built and run by hosted CI (``scripts/test_image``).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import yaml

from split_server.commands import _parser
from split_server.serving.config import ServerConfig

_ROOT = Path(__file__).parents[2]
_DOCKERFILE = (_ROOT / "deploy" / "Dockerfile").read_text()
_COMPOSE = yaml.safe_load((_ROOT / "deploy" / "compose.yaml").read_text())
_COMMAND = [sys.executable, "-c", "import sys; from split_server.cli import main; sys.exit(main())"]
_TOKEN = "a-token-of-enough-length"


def _image_environment(folder: Path) -> dict[str, str]:
    """The variables of the image, its folders below ``folder``."""
    (block,) = re.findall(r"^ENV (PATH=(?:.*\\\n)*.*)$", _DOCKERFILE, re.MULTILINE)
    pairs = dict(item.split("=", 1) for item in block.replace("\\\n", " ").split())
    del pairs["PATH"]
    return {name: value.replace("/var/", f"{folder}/var/") for name, value in pairs.items()}


def _health_command() -> list[str]:
    (text,) = re.findall(r"^HEALTHCHECK .*CMD (\[.*\])$", _DOCKERFILE, re.MULTILINE)
    command: list[str] = json.loads(text)
    return command


@contextmanager
def _contained(environ: dict[str, str], *arguments: str) -> Iterator[str]:
    """A process as the image runs it; the address that it greets with."""
    process = subprocess.Popen(
        [*_COMMAND, "serve", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environ,
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith("listening on "):
                yield line.split()[-1]
                break
        else:
            raise AssertionError("it ended before it listened")
    finally:
        process.kill()
        process.communicate(timeout=60)


def _status(url: str, host: str) -> int:
    headers = {"Host": host, "Authorization": f"Bearer {_TOKEN}"}
    path = "/api/v1/split/config"
    answer = httpx.get(url + path, headers=headers, verify=False, trust_env=False)  # noqa: S501
    return answer.status_code


def test_a_container_answers_to_the_hosts_of_its_variable_and_its_health_check_follows_it(
    tmp_path: Path, tiny_path: Path
) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SPLIT_")}
    environ = kept | _image_environment(tmp_path)
    environ |= {
        "SPLIT_SERVER_TOKEN": _TOKEN,
        "SPLIT_SERVER_MODEL": str(tiny_path),
        "SPLIT_SERVER_ALLOW_HOST": "192.0.2.20,chat.lan",
        "SPLIT_SERVER_TLS": "on",
        "SPLIT_SERVER_COMPAT": "no",
    }
    assert _health_command()[0] == "split-server"
    check = [*_COMMAND, *_health_command()[1:]]
    before = subprocess.run(check, env=environ, capture_output=True, text=True)
    assert before.returncode == 1
    # A flag, which the health check does not see.
    with _contained(environ, "--port", "0") as address:
        port = address.rpartition(":")[2]
        url = f"https://127.0.0.1:{port}"
        for host in (f"192.0.2.20:{port}", f"chat.lan:{port}", f"localhost:{port}"):
            assert _status(url, host) == 200, host
        assert _status(url, f"192.0.2.21:{port}") == 403
        healthy = subprocess.run(check, env=environ, capture_output=True, text=True)
        assert (healthy.returncode, healthy.stdout) == (0, f"{url} serves\n"), healthy.stderr
    # What has to outlive the container lies on its volumes.
    (volumes,) = re.findall(r"^VOLUME (.*)$", _DOCKERFILE, re.MULTILINE)
    state = tmp_path / "var" / "lib" / "gatelink"
    assert json.loads(volumes) == ["/var/lib/gatelink", "/var/cache/gatelink"]
    assert (state / "server" / "ca.pem").is_file()
    gone = subprocess.run(check, env=environ, capture_output=True, text=True)
    assert gone.returncode == 1
    assert "[unhealthy]" in gone.stderr


def test_the_compose_file_names_settings_that_exist_and_the_volumes_of_the_image() -> None:
    (service,) = _COMPOSE["services"].values()
    for name in service["environment"]:
        field = name.removeprefix("SPLIT_SERVER_").lower()
        assert field in ServerConfig.__dataclass_fields__, name
    assert "SPLIT_SERVER_ALLOW_HOST" in service["environment"]
    assert service["environment"]["SPLIT_SERVER_TLS"] == "${SPLIT_SERVER_TLS:-off}"
    mounted = [volume.partition(":")[2] for volume in service["volumes"]]
    assert [f'"{folder}"' in _DOCKERFILE for folder in mounted] == [True, True]
    assert (_ROOT / "deploy" / service["build"]["context"] / ".dockerignore").is_file()
    assert service["ports"] == [
        "${GATELINK_PUBLISH:-127.0.0.1}:${GATELINK_PORT:-8095}:" + str(ServerConfig().port)
    ]
    assert set(_COMPOSE["volumes"]) == {volume.partition(":")[0] for volume in service["volumes"]}


def test_the_health_check_is_a_command_of_the_server() -> None:
    _, *arguments = _health_command()
    assert _parser().parse_args(arguments).command == "health"


@pytest.mark.parametrize("workflow", ["ci.yml", "supply-chain.yml"])
def test_hosted_ci_builds_the_image_and_runs_it(workflow: str) -> None:
    document = yaml.safe_load((_ROOT / ".github" / "workflows" / workflow).read_text())
    commands = [step.get("run", "") for step in document["jobs"]["image"]["steps"]]
    build = next(i for i, command in enumerate(commands) if command.startswith("docker build"))
    assert commands.index("bash scripts/test_image") > build
