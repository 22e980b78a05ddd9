"""Replicas that fail while devices are in mid-reply: no wrong token, none paid for twice.

Devices on both transports, with noise and without, make replies through the shipped HAProxy. Then
every reply is compared with Hugging Face ``generate``; those with noise, and what they cost, with
the same device where nothing happens.

    python -m scripts.bench.fleet.faults.run
    python -m scripts.bench.fleet.faults.run --kills 5 --devices 2 --others 0
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import random
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from scripts.bench.fleet.balancers import HAPROXY_NAME, installed, started
from scripts.bench.fleet.faults.devices import Device
from scripts.bench.fleet.faults.events import Events, Waited
from scripts.bench.fleet.faults.parts import NAMES, middle
from scripts.bench.fleet.faults.verdict import Verdict, judged
from scripts.bench.fleet.replicas import TOKEN, fleet
from scripts.bench.logged_server import server_folder
from scripts.bench.report import finish, heading, median, table
from scripts.bench.timing import Course
from split_client.api import SplitClient

_PROMPTS = (
    "The device holds the ends of a model and",
    "A server that is gone",
    "Write a list of five animals:",
    "The sky is blue because",
    "What is a cache?",
    "Two replicas of one model",
    "A token is",
    "The queue grows when",
)
_FIGURES = ("at the median", "at p99", "at most")
# Seconds that devices in mid-reply may wait, by event: for each of these figures.
_MOST = {
    "kill -9": (0.3, 0.6, None),
    "frozen": (None, None, 5.0),
    "rolling update": (None, None, 5.0),
}


def main() -> None:
    options = _options()
    if HAPROXY_NAME not in installed():
        finish([f"{HAPROXY_NAME} is not installed, and nothing else is measured here"])
    print(heading("Faults of replicas", "float32"))
    with contextlib.ExitStack() as stack:
        folder = server_folder(stack, options.folder)
        os.environ["SPLIT_DATA"] = str(folder / "data")
        replicas = stack.enter_context(fleet(options.replicas, folder, *options.server))
        balancer = stack.enter_context(started(HAPROXY_NAME, folder, replicas))
        client = stack.enter_context(
            SplitClient(replicas[0].url, token=TOKEN, cache=folder / "cache")
        )
        wanted = threading.Event()
        devices = _devices(options.devices, balancer.url, folder, wanted)
        for device in devices:
            device.start()
        rng = random.Random(options.seed)
        events = Events(replicas, balancer, devices, wanted, rng)
        waited = _happen(events, options, Course.of(options))
        for device in devices:
            device.stop()
        wanted.set()
        for device in devices:
            device.join()
        verdict = judged(devices, _PROMPTS, replicas[0].url, folder, client)
    finish(_told(waited, verdict, devices))


def _devices(count: int, url: str, folder: Path, wanted: threading.Event) -> list[Device]:
    """Each combination of transport and noise in turn."""
    return [
        Device(
            number,
            url,
            folder,
            _PROMPTS,
            carrier="http" if number % 2 else "auto",
            noised=number % 4 >= 2,
            wanted=wanted,
        )
        for number in range(count)
    ]


def _happen(events: Events, options: argparse.Namespace, course: Course) -> dict[str, Waited]:
    """All events by name, one after the other."""
    planned: dict[str, tuple[int, Callable[[Waited], None]]] = {
        "kill -9": (options.kills, events.kill),
        "frozen": (options.others, events.freeze),
        "rolling update": (options.others, events.roll),
        "all gone": (
            options.others,
            lambda waited: events.all_gone(waited, options.gone_seconds),
        ),
        "balancer restarted": (options.others, events.restart),
    }
    found = {}
    for name, (count, happen) in planned.items():
        if options.only and name not in options.only:
            continue
        waited = found[name] = Waited()
        for number in range(count):
            if course.over():
                break
            happen(waited)
            course.tell(f"{name}: {number + 1} of {count}")
    return found


def _told(waited: dict[str, Waited], verdict: Verdict, devices: Sequence[Device]) -> list[str]:
    rows, parts, problems = [], [], [*verdict.wrong[:5], *verdict.twice[:5]]
    for name, one in waited.items():
        problems += one.problems
        if not one.gaps:
            continue
        gaps = [each.gap for each in one.gaps]
        found = (median(gaps), _rank99(gaps), max(gaps))
        problems += _beyond(name, *found)
        rows.append([name, one.events, len(gaps), *_seconds(found)])
        parts.append([f"{name}, p50 of each", *_seconds(middle(one.gaps, median))])
        slowest = max(one.gaps, key=lambda each: each.gap)
        parts.append([f"{name}, the greatest gap", *_seconds(slowest.each())])
    print(f"\n{len(devices)} devices, {verdict.replies:,} replies of {verdict.tokens:,} tokens.\n")
    head = ["event", "times", "devices in mid-reply there", "without a token, p50"]
    print(table([*head, "p99", "greatest"], rows))
    print("What these times are made of:\n")
    print(table(["", *NAMES], parts))
    print(f"{len(verdict.wrong)} wrong; {verdict.noised:,} replies with noise, ", end="")
    print(f"of {len(verdict.twice)} devices rows were paid for twice.")
    return problems


def _beyond(name: str, *found: float) -> list[str]:
    most = _MOST.get(name, (None, None, None))
    return [
        f"{name}: {seconds:.2f} s {what}, wanted {bound} s"
        for seconds, bound, what in zip(found, most, _FIGURES, strict=True)
        if bound is not None and seconds > bound
    ]


def _rank99(values: Sequence[float]) -> float:
    """The value that 99 of 100 do not exceed."""
    return sorted(values)[math.ceil(0.99 * len(values)) - 1]


def _seconds(values: Sequence[float]) -> list[str]:
    return [f"{value:.2f} s" for value in values]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--replicas", type=int, default=3)
    parser.add_argument("--devices", type=int, default=8)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--others", type=int, default=20, help="of each other event")
    parser.add_argument("--only", action="append", help="this event alone, and others so named")
    parser.add_argument("--gone-seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", help="keep logs and ledgers here")
    parser.add_argument("--server", action="append", default=[], help="one more flag of replicas")
    Course.add_option(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
