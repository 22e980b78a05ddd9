"""The audit's beams: what may follow some hypotheses, scored in one product and one by one.

    python -m scripts.bench.beam.run [--url http://127.0.0.1:8095] [--beam 4] [--rounds 15]

Takes the ends of the model that is served there. Processor time of one thread, medians: the LM
head's logits of as many states as a beam has hypotheses, by a product for each and by one for all,
and the same with everything that turns them into the log probabilities of a position. Ends with an
error where the likeliest five of a hypothesis differ.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

# One thread, which is what processor time is compared of.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from scripts.bench.report import finish, heading, median, table
from split_client.api import SplitClient
from split_client.audit.attacks.guess import ranked
from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.attacks.language.model import mixed

States = NDArray[np.float32]


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8095")
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    with SplitClient(options.url) as client:
        model, head = PublicModel(client.ends, ["A text."]), client.ends.head
        states = _states(model, options.beam)
        works: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
            "logits": (
                lambda: [head.logits(state) for state in states],
                lambda: head.logits_of_states(states),
            ),
            "a position": (lambda: _one_by_one(model, states), lambda: mixed(model, states)),
        }
        rows = [_measured(name, *pair, options.rounds) for name, pair in works.items()]
        same = ranked(_one_by_one(model, states)).ranked == ranked(mixed(model, states)).ranked
        print(heading(f"Beams, {model.vocabulary} x {model.hidden}", "one thread"))
    print(table(["scored", f"{options.beam} products", "one product", "ratio"], rows))
    finish([] if same.all() else ["the likeliest tokens differ"])


def _states(model: PublicModel, count: int) -> States:
    """As long as rows of a normed state are, in any direction."""
    return np.random.default_rng(0).normal(size=(count, model.hidden)).astype(np.float32)


def _one_by_one(model: PublicModel, states: States) -> NDArray[np.float64]:
    return np.concatenate([mixed(model, state[None]) for state in states])


def _measured(
    name: str, apart: Callable[[], object], together: Callable[[], object], rounds: int
) -> list[object]:
    """In turns, so that both meet the same neighbours."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for work, found in zip((apart, together), times, strict=True):
            began = time.process_time()
            work()
            found.append(1000 * (time.process_time() - began))
    one, other = median(times[0]), median(times[1])
    return [name, f"{one:.1f} ms", f"{other:.1f} ms", f"{other / one:.2f}x"]


if __name__ == "__main__":
    main()
