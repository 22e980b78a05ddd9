"""An environment of its own for each client, made once from the package indexes and kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_PROGRAMS = Path(__file__).with_name("programs")
_INSTALL_SECONDS, _RUN_SECONDS = 900, 300


def run_client(folder: Path, program: str, packages: Sequence[str], *given: str) -> dict[str, Any]:
    """The JSON that ``program`` prints, run with ``packages`` alone, in their pinned versions."""
    node = program.endswith(".mjs")
    place = folder / program.partition(".")[0]
    command = _node(place, program, packages) if node else _python(place, program, packages)
    # Nothing that a user has set up reaches it, and nothing is reported to anybody.
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(place),
        "NO_PROXY": "*",
        "PYDANTIC_AI_DISABLE_TELEMETRY": "1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "HF_HUB_OFFLINE": "1",
    }
    done = subprocess.run(
        [*command, *given],
        env=environment,
        capture_output=True,
        text=True,
        timeout=_RUN_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def _python(place: Path, program: str, packages: Sequence[str]) -> list[str]:
    python = place / "bin" / "python"
    if _is_new(place, packages):
        _done([sys.executable, "-m", "venv", str(place)])
        _done([str(python), "-m", "pip", "install", "-q", *packages])
        _mark(place, packages)
    return [str(python), str(_PROGRAMS / program)]


def _node(place: Path, program: str, packages: Sequence[str]) -> list[str]:
    if _is_new(place, packages):
        place.mkdir(parents=True, exist_ok=True)
        (place / "package.json").write_text('{"private": true, "type": "module"}')
        quiet = ["--no-audit", "--no-fund", "--ignore-scripts"]
        _done(["npm", "install", "--silent", *quiet, "--prefix", str(place), *packages])
        _mark(place, packages)
    # Modules are looked for beside the program.
    copy = place / program
    copy.write_bytes((_PROGRAMS / program).read_bytes())
    return ["node", str(copy)]


def _is_new(place: Path, packages: Sequence[str]) -> bool:
    mark = place / "packages.json"
    return not mark.exists() or json.loads(mark.read_text()) != list(packages)


def _mark(place: Path, packages: Sequence[str]) -> None:
    (place / "packages.json").write_text(json.dumps(list(packages)))


def _done(command: list[str]) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
