"""Replicas behind HAProxy and nginx: what a step costs there, where devices end up, who is refused.

All is the shipped configuration (deploy/haproxy.cfg, docs/scale.md); only addresses differ. The
replicas serve the embedded model. A balancer that is not installed is named and left out; steps
alone are measured behind Ray Serve too, in a replica of the cluster's own.

    python -m scripts.bench.fleet.run
    python -m scripts.bench.fleet.run --rounds 5 --devices 100 --replicas 2
"""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from scripts.bench.fleet.balancers import Balancer, installed, started
from scripts.bench.fleet.full import moved_on
from scripts.bench.fleet.overhead import overhead
from scripts.bench.fleet.ray_cluster import RAY_NAME, cluster, ray_is_installed
from scripts.bench.fleet.replicas import TOKEN, Replica, fleet
from scripts.bench.fleet.spread import spread
from scripts.bench.logged_server import server_folder
from scripts.bench.report import finish, heading
from scripts.bench.row_sessions import Served

# Sessions of a replica that is to be full.
_FEW = 8
# Of each replica, that of a cluster too. What they may hold is enough for all sessions at once.
_EACH = {"threads": 1, "memory_limit": 1_500_000_000}


def main() -> None:
    options = _options()
    names = installed()
    if not names:
        finish(["no balancer is installed"])
    print(heading("Replicas behind a balancer", "float32"))
    with contextlib.ExitStack() as stack:
        folder = server_folder(stack, options.folder)
        os.environ["SPLIT_DATA"] = str(folder / "data")
        problems = [
            *_crowd(options, names, folder),
            *_full(options, names, folder),
        ]
    finish(problems)


def _crowd(options: argparse.Namespace, names: list[str], folder: Path) -> list[str]:
    """Step by step over one replica, then everybody over all of them."""
    sessions = str(options.devices + len(names) + 1)
    limits = ("--max-sessions", sessions, "--max-sessions-per-principal", sessions)
    sockets = ("--max-sockets", sessions)
    each = [f"--{name.replace('_', '-')}={value}" for name, value in _EACH.items()]
    with fleet(options.replicas, folder, *limits, *sockets, *each, *options.server) as replicas:
        problems = []
        if options.rounds:
            with _in_front(names, folder, replicas[:1]) as balancers, _in_ray() as in_ray:
                ways = {one.name: one.url for one in balancers} | in_ray
                problems += overhead(replicas[0], ways, folder, options.rounds, options.steps)
        if options.devices:
            served = Served.at(replicas[0].url, TOKEN, folder / "cache")
            with _in_front(names, folder, replicas) as balancers:
                problems += spread(replicas, balancers, served, options.devices)
    return problems


@contextlib.contextmanager
def _in_ray() -> Iterator[dict[str, str]]:
    """The address of one replica behind Ray Serve, by its name, where that is installed."""
    if not ray_is_installed():
        print(f"not run: {RAY_NAME} is not installed (pip install 'gatelink[ray]')")
        yield {}
        return
    with cluster(_EACH, TOKEN, 1) as url:
        yield {RAY_NAME: url}


def _full(options: argparse.Namespace, names: list[str], folder: Path) -> list[str]:
    """One replica at its limit."""
    limits = ("--max-sessions", str(_FEW), "--max-sessions-per-principal", str(_FEW))
    with fleet(options.replicas, folder, *limits, *options.server) as replicas:
        served = Served.at(replicas[0].url, TOKEN, folder / "cache")
        with _in_front(names, folder, replicas) as balancers:
            return moved_on(replicas, balancers, served, _FEW)


@contextlib.contextmanager
def _in_front(names: list[str], folder: Path, replicas: list[Replica]) -> Iterator[list[Balancer]]:
    """All balancers, each with checks that have passed."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(started(name, folder, replicas)) for name in names]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--replicas", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=300, help="of the step; 0: not that")
    parser.add_argument("--steps", type=int, default=10, help="of one round")
    parser.add_argument("--devices", type=int, default=1000, help="in all; 0: not that")
    parser.add_argument("--folder", help="keep logs and configurations here")
    parser.add_argument("--server", action="append", default=[], help="one more flag of replicas")
    options = parser.parse_args()
    if options.replicas < 2:
        parser.error("at least two replicas")
    return options


if __name__ == "__main__":
    main()
