"""Tokens a second against accelerate's disk offload, each in the same control group."""

from __future__ import annotations

import tempfile

import torch

from scripts.bench.report import heading, spread, table
from scripts.bench.streamed.group import limited
from scripts.bench.streamed.started import Setting, middle, ours, started
from scripts.bench.workers import Worker

_PEER = "scripts.bench.peers.disk_offload"
_LEAST = 1.4
# Of the length of the states: both sum in bfloat16, in other orders.
_ALIKE = 0.05


def against_peer(setting: Setting, python: str | None, group_bytes: int) -> list[str]:
    """Time both and print the table; what is beyond the bar, or wrong."""
    with limited(group_bytes) as group, tempfile.TemporaryDirectory() as offload:
        # One after the other: the group is for each of them.
        with ours(setting, setting.streamed, group) as worker:
            worker.ask(op="open", sessions=1)
            mine, states = _timed(worker, setting.rounds)
        with started(setting, _PEER, group, python) as worker:
            worker.ask(op="load", folder=offload, threads=setting.threads)
            worker.ask(op="open")
            theirs, expected = _timed(worker, setting.rounds)
    if torch.dist(states, expected) > _ALIKE * expected.norm():
        return ["the states are not those of accelerate"]
    limit = "no control group, as none can be made here"
    limit = limit if group is None else f"a control group of {group_bytes / 1e6:,.0f} MB"
    print(heading(f"Against accelerate's disk offload, {setting.shape}, {limit}", setting.dtype))
    rows = [["this engine", spread(mine, "s")], ["accelerate", spread(theirs, "s")]]
    print(table(["", "a token"], rows))
    ratio = middle(theirs) / middle(mine)
    print(f"{ratio:.2f} times as many tokens a second.\n")
    return [] if ratio >= _LEAST else [f"{ratio:.2f} times accelerate's tokens a second"]


def _timed(worker: Worker, rounds: int) -> tuple[list[float], torch.Tensor]:
    """Seconds of some steps after the first one, and the states of the last."""
    found = [worker.ask(op="step") for _ in range(rounds + 1)]
    return [one["seconds"] for one in found[1:]], torch.tensor(found[-1]["states"])
