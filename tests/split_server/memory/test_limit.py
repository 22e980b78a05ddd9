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
    share_limit,
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


def test_a_share_is_of_what_was_free_at_the_start_and_stays_that() -> None:
    held, free = [100], [1000]
    room = share_limit(0.25, [lambda: Room(free[0], "machine")], lambda: held[0])
    assert room() == Room(250, "--memory-share")
    # What it takes itself counts, and what a neighbour takes does not.
    held[0], free[0] = 300, 200
    assert room() == Room(50, "--memory-share")


def test_shares_that_are_one_together_never_take_more_than_there_was() -> None:
    free, taken = 1000, 0
    for share in (0.5, 0.5):
        # One after the other, each as much as it may at once.
        room = share_limit(share, [lambda left=free - taken: Room(left, "machine")], lambda: 7)()
        assert room is not None
        taken += room.free
    assert taken <= free


def test_a_machine_with_nothing_left_gives_no_share() -> None:
    assert share_limit(0.5, [lambda: Room(-10, "cgroup")], lambda: 0)() == Room(0, "--memory-share")


def test_a_share_names_itself_where_it_is_nearest_and_counts_what_runs_beside() -> None:
    cpu = torch.device("cpu")
    whole = memory_limit_of(cpu).room().free
    limit = memory_limit_of(cpu, share=0.25, beside=1 << 20)
    room = limit.room()
    assert room.source == "--memory-share"
    assert room.free < whole / 2
    assert memory_limit_of(cpu, share=1.0).room().source != "--memory-share"


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
