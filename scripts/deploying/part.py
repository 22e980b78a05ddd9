"""What a part of the check comes to, and how it runs a program."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

_WITHIN = 600.0
_MOST_WORDS = 2000


class PartFailed(Exception):
    """What is shipped is not as it should be; the text says what and where."""


class NotHere(Exception):
    """The part cannot run on this machine; the text says why."""


def require(program: str, how: str) -> None:
    """Raises NotHere where ``program`` is not installed; ``how``: to get it."""
    if shutil.which(program) is None:
        raise NotHere(f"{program} is not installed ({how})")


def passes(
    command: Sequence[str], *, environ: Mapping[str, str] | None = None, folder: Path | None = None
) -> str:
    """What ``command`` says on both streams. Raises PartFailed for another status than 0."""
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environ,
            cwd=folder,
            timeout=_WITHIN,
        )
    except subprocess.TimeoutExpired as error:
        raise PartFailed(f"{command[0]} did not end within {_WITHIN:.0f} s") from error
    if done.returncode:
        said = done.stdout[-_MOST_WORDS:]
        raise PartFailed(f"{' '.join(command[:3])} ended with {done.returncode}:\n{said}")
    return done.stdout
