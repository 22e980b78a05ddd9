"""Versions and hashes for every platform, found by uv in a folder that is thrown away.

Where packages come from is uv's own setting (``UV_DEFAULT_INDEX``) and stays there: what it writes
down with addresses is read and not kept.
"""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path

from scripts.locking.parts import Pin, parse

_EXPORT = (
    "export", "--quiet", "--frozen", "--format", "requirements.txt", "--no-header", "--no-annotate",
    "--no-emit-project", "--no-default-groups",
)  # fmt: skip


class Resolution:
    """One resolution of everything that ``pyproject.toml`` names, in ``folder``."""

    def __init__(self, uv: Path, folder: Path, project: str, keep: dict[str, str]) -> None:
        """``project``: the text of ``pyproject.toml``; ``keep``: versions by name that stay.

        Raises subprocess.CalledProcessError where they do not go together.
        """
        self._uv, self._folder = uv, folder
        pins = [f"{name}=={version}" for name, version in sorted(keep.items())]
        settings = f"\n[tool.uv]\npackage = false\nconstraint-dependencies = {json.dumps(pins)}\n"
        (folder / "pyproject.toml").write_text(project + settings)
        self._run("lock", "--quiet")

    def pins(self, *choice: str) -> list[Pin]:
        """What an installation with uv's options ``choice`` has, by name."""
        return parse(self._run(*_EXPORT, *choice))

    def wheels(self, name: str) -> list[str]:
        """The names of the wheels of a package, without the addresses."""
        document = tomllib.loads((self._folder / "uv.lock").read_text())
        (package,) = (entry for entry in document["package"] if entry["name"] == name)
        return sorted(wheel["url"].rpartition("/")[2] for wheel in package["wheels"])

    def _run(self, *arguments: str) -> str:
        command = [str(self._uv), *arguments]
        done = subprocess.run(
            command, cwd=self._folder, check=True, stdout=subprocess.PIPE, text=True
        )
        return done.stdout
