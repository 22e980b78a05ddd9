"""Attacks by clients of one running server, each on a real split-server of its own.

Each module beside this one has ``attack(folder)``, which starts a server with the embedded model,
attacks it over sockets and returns its figures. Exit status 1: a bar is not held.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import pkgutil
from pathlib import Path

from scripts.bench import attacks
from scripts.bench.attacks.figure import Figure
from scripts.bench.logged_server import server_folder
from scripts.bench.report import finish, heading, table

_NOT_ATTACKS = ("run", "figure", "raw", "watched")


def main() -> None:
    options = _options()
    figures = {name: _attacked(name, options.folder) for name in options.attacks}
    print(heading("Attacks", "float32"))
    rows = [
        [name, figure.name, figure.value, figure.bar]
        for name, found in figures.items()
        for figure in found
    ]
    print(table(["attack", "figure", "measured", "bar"], rows))
    broken = [
        f"{name}, {figure.name}: {figure.value}"
        for name, found in figures.items()
        for figure in found
        if not figure.held
    ]
    finish(broken)


def _attacked(name: str, folder: str | None) -> list[Figure]:
    module = importlib.import_module(f"scripts.bench.attacks.{name}")
    with contextlib.ExitStack() as stack:
        own: Path = server_folder(stack, folder)
        found: list[Figure] = module.attack(own)
        return found


def _names() -> list[str]:
    modules = pkgutil.iter_modules(attacks.__path__)
    return sorted(module.name for module in modules if module.name not in _NOT_ATTACKS)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("attacks", nargs="*", default=_names(), help="modules; default: all")
    parser.add_argument("--folder", help="keep the servers' files here")
    return parser.parse_args()


if __name__ == "__main__":
    main()
