"""Lengths chosen from given timings."""

from __future__ import annotations

from typing import Any

from split_client.generation.speculation.drafts import Draft, StepCost
from split_client.generation.speculation.length import AdaptiveLength

Act = dict[str, Any]


def build() -> list[Act]:
    """Cases by name. Times are short binary fractions."""
    cases = {
        "nothing is known": _asks("suffix", 8),
        "a far server": [
            *_single(0.0625, 6),
            *_asks("suffix", 8),
            *_drafted(0.0625, 1 / 1024, 16, 15),
        ],
        "rows cost as much as steps": [*_single(0.015625, 6), *_drafted(0.015625, 0.015625, 4, 3)],
        "rows cost something": [*_single(0.03125, 4), *_drafted(0.03125, 0.00390625, 8, 7)],
        "guesses miss": [*_single(0.0625, 3), *_missed(12)],
        "few are right": [*_single(0.125, 3), *_mixed(20)],
        "a queue is no cost of a row": [*_single(0.03125, 4), *_queued(6)],
        "the network becomes slower": [*_single(0.03125, 8), *_drafted(0.25, 0.001953125, 8, 7)],
        "a hiccup": [
            *_single(0.03125, 4),
            _step(4, 4.0),
            _judge("suffix", 8, 3, 3),
            *_asks("suffix", 8),
        ],
        "the head takes its part": [*_single(0.0078125, 4), *_heads(0.25, 5), *_asks("suffix", 8)],
        "a source that loses is silent": _losing(),
        "guesses that were not sent count": [*_single(0.0625, 2), *_seen(9)],
    }
    return [{"name": name, "acts": _played(acts)} for name, acts in cases.items()]


def _step(rows: int, seconds: float, queue: float = 0.0) -> Act:
    cost = {"rows": rows, "returned": rows, "seconds": seconds, "compute": seconds / 4}
    return {"stepped": {**cost, "queue": queue}}


def _judge(source: str, match: int, drafted: int, accepted: int) -> Act:
    return {"judged": {"source": source, "match": match, "drafted": drafted, "accepted": accepted}}


def _asks(source: str, match: int) -> list[Act]:
    return [
        {"choose": {"source": source, "match": match, "available": available}}
        for available in (1, 2, 3, 5, 7, 9, 15)
    ]


def _single(seconds: float, times: int) -> list[Act]:
    return [_step(1, seconds)] * times


def _drafted(fixed: float, row: float, rows: int, accepted: int) -> list[Act]:
    acts = list[Act]()
    for _ in range(5):
        acts += [_step(rows, fixed + row * rows), _judge("suffix", 8, rows - 1, accepted)]
        acts += [*_asks("suffix", 8), *_asks("suffix", 2)]
    return acts


def _missed(times: int) -> list[Act]:
    acts = list[Act]()
    for _ in range(times):
        acts += [*_asks("memo", 3), _step(4, 0.06640625), _judge("memo", 3, 3, 0)]
    return acts


def _mixed(times: int) -> list[Act]:
    acts = list[Act]()
    for index in range(times):
        acts += [_step(4, 0.12890625), _judge("given", index % 20, 3, (index * 7) % 4)]
        acts += _asks("given", index % 20)
    return acts


def _queued(times: int) -> list[Act]:
    acts = list[Act]()
    for index in range(times):
        queue = 0.5 * (index % 2)
        acts += [_step(8, 0.0390625 + queue, queue), _judge("suffix", 16, 7, 7)]
        acts += _asks("suffix", 16)
    return acts


def _heads(seconds: float, times: int) -> list[Act]:
    return [{"head": seconds}] * times


def _seen(times: int) -> list[Act]:
    acts = list[Act]()
    for index in range(times):
        right = (index * 5) % 4
        seen = {"source": "memo", "match": 6, "right": right, "wrong": right < 3}
        acts += [{"seen": seen}, *_asks("memo", 6)]
    return acts


def _losing() -> list[Act]:
    """Two silences of a source, the second twice as long; another one is asked all the while."""
    acts = _single(0.015625, 3)
    for _ in range(4):
        acts += [_step(4, 0.0625), _judge("suffix", 4, 3, 0)]
        acts += [{"asked": "suffix"}] * 35
    return [*acts, *[{"asked": "memo"}] * 3, *[{"asked": "suffix"}] * 70]


def _played(acts: list[Act]) -> list[Act]:
    length, told, last = AdaptiveLength(), list[Act](), None
    for act in acts:
        expected: Act = {}
        if "stepped" in act:
            last = StepCost(**act["stepped"])
            length.stepped(last)
        elif "judged" in act:
            one = act["judged"]
            length.judged(_draft(one, one["drafted"]), one["accepted"], last)
            last = None
        elif "seen" in act:
            one = act["seen"]
            length.seen(_draft(one, 15), one["right"], wrong=one["wrong"])
        elif "head" in act:
            length.head(act["head"])
        elif "asked" in act:
            expected = {"expected": length.asked(act["asked"])}
        else:
            one = act["choose"]
            expected = {"expected": length.choose(_draft(one, one["available"])).count}
        told.append({**act, **expected})
    return told


def _draft(one: Act, count: int) -> Draft:
    return Draft(one["source"], tuple(range(count)), one["match"])
