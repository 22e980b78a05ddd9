"""The flag ``--version`` of every program."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

_PACKAGE = "gatelink"


def add_version(parser: argparse.ArgumentParser) -> None:
    """``-V`` and ``--version`` print the program's name and the package's version."""
    parser.add_argument("-V", "--version", action=_Version, help="print the version")


def version_line(program: str) -> str:
    """``split-relay 0.1.0``."""
    # The look-up is slow, and only this flag needs it.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"{program} {version(_PACKAGE)}"
    except PackageNotFoundError:
        return f"{program} (not installed as a package)"


class _Version(argparse.Action):
    """Reads the version only when it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, **kwargs: str | None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=kwargs.get("help"))

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        sys.stdout.write(version_line(parser.prog) + "\n")
        parser.exit()
