"""Compares what was heard in the crowd with what one hears alone, and with the stock model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from scripts.bench.soak.tally import Asked, Heard, SoakTally
from scripts.bench.solo import MAX_TOKENS
from scripts.bench.workers import Worker


@dataclass(slots=True)
class Verdict:
    """``replies`` were compared, all of them, to ``prompts`` different ones; ``wrong`` as text."""

    prompts: int = 0
    replies: int = 0
    beginnings: int = 0
    tokens: int = 0
    greedy: int = 0
    wrong: list[str] = field(default_factory=list)


def compared(tally: SoakTally, url: str, cache: Path, model: Path) -> Verdict:
    """Every reply with one made alone at ``url``, greedy ones also with ``generate``."""
    solo = Worker("scripts.bench.solo", url, str(cache))
    stock = Worker("scripts.bench.peers.generate", str(model), "float32")
    try:
        expected = {asked: _alone(solo, asked) for asked in tally.heard}
        verdict = Verdict(prompts=len(expected))
        for asked, alone in expected.items():
            ids, seed = asked
            if seed is None:
                verdict.greedy += 1
                said = stock.ask(op="generate", ids=list(ids), tokens=MAX_TOKENS)["ids"]
                if tuple(said) != alone.ids:
                    verdict.wrong.append(f"alone another one than generate: {alone.text!r}")
    finally:
        solo.close()
        stock.close()
    _judge(verdict, tally.heard, expected)
    return verdict


def _alone(solo: Worker, asked: Asked) -> Heard:
    answer = solo.ask(ids=list(asked[0]), seed=asked[1])
    return Heard(tuple(answer["ids"]), answer["text"], whole=True)


def _judge(
    verdict: Verdict,
    heard: Mapping[Asked, Mapping[Heard, int]],
    expected: Mapping[Asked, Heard],
) -> None:
    for asked, replies in heard.items():
        alone = expected[asked]
        for one, count in replies.items():
            verdict.replies += count * one.whole
            verdict.beginnings += count * (not one.whole)
            verdict.tokens += count * len(one.ids)
            if not _same(one, alone):
                verdict.wrong.append(
                    f"{count} times {one.text!r} instead of {alone.text!r} (seed {asked[1]})"
                )


def _same(heard: Heard, alone: Heard) -> bool:
    if heard.whole:
        return heard == alone
    return alone.ids[: len(heard.ids)] == heard.ids and alone.text.startswith(heard.text)
