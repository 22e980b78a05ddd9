"""What a balancer adds to a step of one row: the same session's step by each way, in turn."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from scripts.bench.fleet.balancers import HAPROXY_NAME, NGINX_NAME
from scripts.bench.fleet.ray_cluster import RAY_NAME
from scripts.bench.fleet.replicas import TOKEN, Replica
from scripts.bench.report import interval, median, table
from scripts.bench.row_sessions import RowSession, Served

BARE = "bare"
# Milliseconds of a step's median over that of the bare way.
MOST_ADDED = {HAPROXY_NAME: 0.2, NGINX_NAME: 0.2, RAY_NAME: 0.5}
_CONTEXT = 64
# Two processes may have chosen other kernels, with other rounding; a replica is equal to itself.
_OWN_KERNELS = 1e-4


def overhead(
    replica: Replica, balanced: Mapping[str, str], folder: Path, rounds: int, steps: int
) -> list[str]:
    """Print the table; what was not as wanted. ``balanced``: addresses by the balancers' names.

    One session for each way, all at the same position, so that all steps cost the same.
    """
    ways = {BARE: replica.url, **balanced}
    served = {name: Served.at(url, TOKEN, folder / "cache") for name, url in ways.items()}
    sessions = {name: RowSession(one, TOKEN) for name, one in served.items()}
    try:
        if problems := _different(sessions, served[BARE].hidden_size):
            return problems
        found = _measured(sessions, rounds, steps)
    finally:
        for session in sessions.values():
            session.close()
    return _told(found, rounds, steps)


def _different(sessions: dict[str, RowSession], width: int) -> list[str]:
    """Ways by which other states came back than without a balancer."""
    row = np.full((1, width), 0.05, np.float32)
    answers = {}
    for name, session in sessions.items():
        session.step(0, _CONTEXT)
        answers[name] = session.backend.step(_CONTEXT, row).hidden
    return [
        f"{name}: another state than without it"
        for name, state in answers.items()
        if not np.allclose(state, answers[BARE], rtol=0, atol=_OWN_KERNELS * (name == RAY_NAME))
    ]


def _measured(sessions: dict[str, RowSession], rounds: int, steps: int) -> dict[str, list[float]]:
    """Milliseconds of the median step of each round, by way; the first round warms up."""
    names, found = list(sessions), {name: list[float]() for name in sessions}
    for number in range(-1, rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            value = median([_one(sessions[name]) for _ in range(steps)])
            if number >= 0:
                found[name].append(value)
    return found


def _one(session: RowSession) -> float:
    begin = time.perf_counter()
    session.step(_CONTEXT, 1)
    return 1e3 * (time.perf_counter() - begin)


def _told(found: dict[str, list[float]], rounds: int, steps: int) -> list[str]:
    rows, problems = [], []
    for name, values in found.items():
        added = [a - b for a, b in zip(values, found[BARE], strict=True)]
        low, high = interval(added)
        more = median(added)
        most = MOST_ADDED.get(name, 0.0)
        kept = more <= most
        cells = ["", "", "", ""]
        if name != BARE:
            cells = [
                f"{more:+.3f} ms ({low:+.3f} to {high:+.3f})",
                f"{1 + more / median(found[BARE]):.3f} x",
            ]
            cells += [f"+{most} ms", "kept" if kept else "missed"]
            if not kept:
                problems.append(f"{name} adds {more:.3f} ms to a step, wanted at most {most}")
        rows.append([name, f"{median(values):.3f} ms", *cells])
    print(f"\nA step of one row behind {_CONTEXT}; medians of {rounds} rounds of {steps} steps.\n")
    head = ["way", "p50", "added (95%)", "over bare", "at most", ""]
    print(table(head, rows))
    return problems
