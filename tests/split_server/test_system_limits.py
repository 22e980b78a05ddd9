"""Limits beside those that an operator has set already; in processes of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

_CODE = """
import resource, sys
from split_server.system_limits import limit_to
given, wanted = map(int, sys.argv[1:])
if given:
    resource.setrlimit(resource.RLIMIT_DATA, (given, given))
limit_to(resource.RLIMIT_DATA, wanted)
print(*resource.getrlimit(resource.RLIMIT_DATA))
"""


@pytest.mark.parametrize(
    ("given", "wanted", "left"),
    [(0, 3 << 30, 3 << 30), (2 << 30, 3 << 30, 2 << 30), (3 << 30, 2 << 30, 2 << 30)],
)
def test_the_smaller_limit_counts(given: int, wanted: int, left: int) -> None:
    told = subprocess.run(
        [sys.executable, "-c", _CODE, str(given), str(wanted)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split() == [str(left)] * 2
