"""Commands as processes whose output nobody reads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_ENVIRON = {name: value for name, value in os.environ.items() if not name.startswith("SPLIT_")}


def _unread(module: str, *arguments: str) -> tuple[int, str]:
    """Exit status and standard error of a command whose reader is gone before it starts."""
    reading, writing = os.pipe()
    os.close(reading)
    code = f"import sys; from {module}.cli import main; sys.exit(main())"
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            env=_ENVIRON,
            timeout=120,
            check=False,
        )
    finally:
        os.close(writing)
    return done.returncode, done.stderr


@pytest.mark.parametrize("module", ["split_client", "split_server", "split_relay"])
def test_help_that_nobody_reads_ends_without_a_word(module: str) -> None:
    assert _unread(module, "--help")[1] == ""


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_manifest_that_nobody_reads_ends_without_a_word(tiny_path: Path, form: list[str]) -> None:
    assert _unread("split_server", "manifest", "--model", str(tiny_path), *form) == (1, "")
