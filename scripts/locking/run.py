"""The lock made again: ``python -m scripts.locking.run [--upgrade | PACKAGE ...] [--check]``.

Versions stay as they are where ``pyproject.toml`` still allows them; ``--upgrade`` takes the newest
of all packages, and names take the newest of those. With ``TORCH_INDEX`` in the environment the
builds of torch without CUDA are looked up there, without it those of the lock stay.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from scripts.locking import torch_builds
from scripts.locking.parts import EXTRAS, GROUPS, NAMES, TORCH, TORCH_CPU, added, parse, render
from scripts.locking.resolve import Resolution
from scripts.paths import ROOT

FOLDER = ROOT / "requirements"


def main(arguments: Sequence[str] | None = None) -> int:
    """0, or 1 where ``--check`` finds another lock than the one that is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help="take its newest version")
    parser.add_argument("--upgrade", action="store_true", help="take the newest of all")
    parser.add_argument("--check", action="store_true", help="say what would change")
    given = parser.parse_args(arguments)
    keep = {} if given.upgrade else _versions(set(given.packages))
    with tempfile.TemporaryDirectory() as folder:
        project = (ROOT / "pyproject.toml").read_text()
        files = _files(Resolution(_uv(), Path(folder), project, keep))
    changed = [name for name, text in files.items() if _text(name) != text]
    for name in changed:
        print(f"requirements/{name}.txt is another" if given.check else f"requirements/{name}.txt")
        if not given.check:
            FOLDER.mkdir(exist_ok=True)
            (FOLDER / f"{name}.txt").write_text(files[name])
    return 1 if given.check and changed else 0


def _files(found: Resolution) -> dict[str, str]:
    """The text of every part."""
    base = found.pins()
    server = found.pins("--extra", "server", "--prune", "torch")
    torch = added(found.pins("--extra", "server"), server)
    texts = {"base": render(base), "server": render(added(server, base))}
    for extra in EXTRAS[1:]:
        texts[extra] = render(added(found.pins("--extra", extra), base))
    for group in GROUPS:
        texts[group] = render(found.pins("--only-group", group))
    texts[TORCH] = render(torch, ("Torch as package indexes have it:", *found.wheels("torch")))
    (version,) = (pin.version for pin in torch if pin.name == "torch")
    builds = _builds(version)
    plain = [pin for pin in torch if pin.name != "torch" and not pin.on_linux_alone]
    notes = ("Torch without CUDA, on Linux:", *torch_builds.notes(builds))
    texts[TORCH_CPU] = render([*plain, torch_builds.pin(version, builds)], notes)
    return {name: texts[name] for name in NAMES}


def _builds(version: str) -> dict[str, str]:
    index = os.environ.get("TORCH_INDEX")
    if index:
        return torch_builds.looked_up(index, version)
    return torch_builds.kept(_text(TORCH_CPU), version)


def _versions(without: set[str]) -> dict[str, str]:
    """The version of each package that has one in the lock, those ``without`` left out."""
    found: dict[str, set[str]] = {}
    for name in NAMES:
        for pin in parse(_text(name)):
            if pin.name not in without:
                found.setdefault(pin.name, set()).add(pin.version.removesuffix(torch_builds.LABEL))
    return {name: versions.pop() for name, versions in found.items() if len(versions) == 1}


def _text(name: str) -> str:
    path = FOLDER / f"{name}.txt"
    return path.read_text() if path.exists() else ""


def _uv() -> Path:
    """The one of the environment that this runs in (scripts/lock makes it)."""
    return Path(sys.executable).parent / "uv"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except torch_builds.BuildsUnknown as error:
        sys.exit(f"lock: {error}")
