"""``split-server`` as it is installed: with its packages, or saying which ones are missing.

The command comes with the device client, whose installation has no torch and no web server.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

_OWN = "split_"
_MISSING = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is that of ``split_server.commands``."""
    try:
        from split_server.commands import main as run

        return run(arguments)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith(_OWN):
            raise
        print(
            f"split-server: the package {error.name.partition('.')[0]!r} is not installed; "
            "install the server with: pip install 'gatelink[server]'",
            file=sys.stderr,
        )
        return _MISSING
