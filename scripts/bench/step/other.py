"""The runner of another commit: the worker that its checkout brings along.

Workers of all commits answer the same requests; where they lie has changed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from scripts.bench.workers import Worker

# Modules of the worker by the folder that they are found from, newest first.
_MODULES = (
    (".", "scripts.bench.step.runner"),
    ("scripts", "bench.runner_worker"),
)
_PACKAGES = ("common", "server", "device_client", "relay")


def other_name(given: Path) -> str:
    """The commit of a checkout, with a word on changes that are not in it."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=10"]
    done = subprocess.run(
        command, cwd=checkout_of(given), check=True, capture_output=True, text=True
    )
    return f"commit {done.stdout.strip()}"


def other_worker(given: Path, path: Path, dtype: str, threads: int) -> Worker:
    """The checkout's runner with its own choice of linear layers.

    A checkout without an environment takes this one, with its own packages in front.
    """
    checkout = checkout_of(given)
    folder, module = _module(checkout)
    python = checkout / ".venv" / "bin" / "python"
    packages = os.pathsep.join(str(checkout / name) for name in _PACKAGES)
    return Worker(
        module,
        str(path),
        dtype,
        json.dumps({"threads": threads}),
        python=str(python) if python.exists() else sys.executable,
        folder=folder,
        environ={"PYTHONPATH": packages},
    )


def checkout_of(given: Path) -> Path:
    """The checkout that is named by its folder or by its environment's interpreter."""
    given = Path(os.path.abspath(given))  # noqa: PTH100 (an interpreter is a link: not followed)
    return given if given.is_dir() else given.parents[2]


def _module(checkout: Path) -> tuple[Path, str]:
    for place, module in _MODULES:
        folder = checkout / place
        if (folder / module.replace(".", "/")).with_suffix(".py").exists():
            return folder, module
    raise SystemExit(f"{checkout} has no worker of the step benchmark that is known")
