"""The LM heads of the device on real hidden states: the same top 50, and milliseconds of each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from scripts.bench.report import median, spread
from scripts.bench.timing import timed
from scripts.real.figures import Figure, Figures, of, require
from scripts.real.models.ours import Middle
from scripts.real.models.served import server
from scripts.real.setting import Setting, say
from split_client import SplitClient
from split_client.generation.head.head import HeadKind, LMHead

_STATES = 600
_TIMED = 100
_TOP = 50
_KINDS: tuple[HeadKind, ...] = ("exact", "compact", "full")
_BEFORE = "1,000 of 1,000 ([random rows](benchmarks.md#lm-heads))"


def measure(setting: Setting) -> Figures:
    """``top`` of every head on states of the replies, in turn."""
    states = _states(setting)
    truth = _truth(states, setting.table)
    with server(setting.folder, "bfloat16") as url:
        heads = {kind: _head(url, setting.cache, kind) for kind in _KINDS}
    same = dict.fromkeys(_KINDS, 0)
    laps: dict[HeadKind, list[float]] = {kind: [] for kind in _KINDS}
    for number, state in enumerate(states):
        for kind, head in heads.items():
            found = head.top(state, _TOP).ids.tolist()
            same[kind] += found == truth[number]
            if number < _TIMED:
                laps[kind].append(timed(lambda h=head, s=state: h.top(s, _TOP)).ms)  # type: ignore[misc]
    require(same["full"] == len(states), "numpy's and torch's products rank otherwise")
    say(f"{len(states)} states through {len(heads)} heads")
    times = {kind: spread(laps[kind], "ms") for kind in _KINDS}
    fractions = {
        kind: f"{times[kind]}, {median(laps[kind]) / median(laps['full']):.2f}x" for kind in _KINDS
    }
    return Figures(
        f"the whole product in numpy gives the ids of a float64 product, {len(states)} states",
        (
            Figure("exact head, the same top 50 in order", of(same["exact"], _STATES), _BEFORE),
            Figure("compact head, the same", of(same["compact"], _STATES), _BEFORE),
            Figure("exact, milliseconds and of all rows", fractions["exact"], "9.2 ms, 0.27x"),
            Figure("compact", fractions["compact"], "10.7 ms, 0.26x"),
            Figure("all rows", times["full"], "34.6 ms (151,936 x 896)"),
        ),
    )


def _states(setting: Setting) -> NDArray[np.float32]:
    """States that replies were chosen from, [n, H]."""
    middle, found, count = Middle(setting.folder, "float32"), list[torch.Tensor](), 0
    for one in setting.replies("float32"):
        rows = setting.rows(one.prompt + one.reply[:-1])
        found.append(middle.states(rows)[len(one.prompt) - 1 :])
        count += len(found[-1])
        if count >= _STATES:
            break
    return torch.cat(found)[:_STATES].numpy()


def _truth(states: NDArray[np.float32], table: torch.Tensor) -> list[list[int]]:
    """The first 50 by (-logit, id) of float64 products."""
    wide, found = table.double().T, list[list[int]]()
    for block in torch.from_numpy(states).double().split(64):
        logits = (block @ wide).numpy()
        for row in logits:
            best = np.argpartition(-row, 2 * _TOP)[: 2 * _TOP]
            found.append(best[np.lexsort((best, -row[best]))][:_TOP].tolist())
    return found


def _head(url: str, cache: Path, kind: HeadKind) -> LMHead:
    client = SplitClient(url, cache=cache, lm_head=kind, drafts="off")
    client.connect()
    head = client.ends.head
    # The head maps the client's files and outlives its connection.
    client.close()
    return head
