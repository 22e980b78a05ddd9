"""The nearest of several limits."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from split_server.memory.limit import (
    MemoryLimit,
    Room,
    memory_limit_of,
    own_limit,
    resource_limits,
)
from split_server.memory.usage import Usage

_USAGE = Usage(private=100, resident=150, data=300, size=900)


def test_the_nearest_limit_is_named() -> None:
    limit = MemoryLimit([lambda: Room(50, "far"), lambda: Room(20, "near"), lambda: None])
    assert limit.room() == Room(20, "near")


def test_untouched_memory_counts_only_where_the_limit_has_not_counted_it() -> None:
    limit = MemoryLimit([lambda: Room(50, "resident"), lambda: Room(45, "mapped", True)])
    assert limit.room(untouched=10) == Room(40, "resident")
    assert limit.room(untouched=2).source == "mapped"


def test_the_own_limit_counts_private_memory() -> None:
    assert own_limit(1000, lambda: _USAGE)() == Room(900, "--memory-limit")


def test_a_cpu_process_without_limits_has_what_the_machine_has() -> None:
    room = memory_limit_of(torch.device("cpu")).room()
    assert room.free > 0
    small = memory_limit_of(torch.device("cpu"), own=1).room()
    assert small.source == "--memory-limit"
    assert small.free < 0


@pytest.mark.skipif(sys.platform != "linux", reason="limits of the address space on Linux")
@pytest.mark.parametrize(("kind", "held"), [("RLIMIT_DATA", 300), ("RLIMIT_AS", 900)])
def test_resource_limits_leave_what_the_kernel_has_not_counted(kind: str, held: int) -> None:
    program = (
        "import resource, torch\n"
        "from split_server.memory.limit import resource_limits\n"
        "from split_server.memory.usage import Usage\n"
        f"resource.setrlimit(resource.{kind}, (10**12, 10**12))\n"
        "rooms = [s() for s in resource_limits(lambda: Usage(100, 150, 300, 900))]\n"
        "print([(r.free, r.source, r.counts_untouched) for r in rooms if r is not None])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout.strip() == str([(10**12 - held, kind, True)]), ran.stderr


def test_unlimited_resources_are_no_source() -> None:
    rooms = [source() for source in resource_limits(lambda: _USAGE)]
    assert rooms == [None, None]
