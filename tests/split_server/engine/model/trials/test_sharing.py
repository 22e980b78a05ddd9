"""From how many sessions on a common beginning is read together is measured, by its length."""

from __future__ import annotations

import itertools
from functools import partial
from pathlib import Path

from split_server.engine.model.trials.sharing import sharing_rule
from split_server.kv.sharing_rule import SharingRule
from tests.engines import tiny_backbone


def test_from_how_many_sessions_on_it_pays_is_measured_by_length(tiny_path: Path) -> None:
    backbone = tiny_backbone(tiny_path)
    # Each reading of the clock is a second later: both ways take the same, which is no gain.
    assert sharing_rule(backbone, partial(next, itertools.count())) is None
    # Of three readings for each try the first two are a second apart, so together takes no time.
    apart_alone = itertools.accumulate(itertools.cycle([0.0, 1.0, 0.0]))
    assert sharing_rule(backbone, partial(next, apart_alone)) == SharingRule(((512, 4),))


def test_a_beginning_that_is_too_short_for_a_gain_is_measured_at_twice_the_length(
    tiny_path: Path,
) -> None:
    steps = [
        *[0.0, 1.0, 1.0] * 7,  # 512 positions, 16 sessions: no gain
        *[0.0, 1.0, 0.0] * 7,  # 1,024: 16 sessions gain
        *[0.0, 1.0, 1.0] * 7,  # 8 do not
        *[0.0, 1.0, 0.0] * 7,  # 2,048: 8 do
        *[0.0, 1.0, 0.0] * 7,  # and 4
    ]
    clock = partial(next, itertools.accumulate(steps))
    assert sharing_rule(tiny_backbone(tiny_path), clock) == SharingRule(((1024, 16), (2048, 4)))
