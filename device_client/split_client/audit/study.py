"""One mode under study: used, attacked and gambled with, as time allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from split_client.audit.attacked import attack_messages, resend
from split_client.audit.attacks.distinguish import log_ratio
from split_client.audit.attacks.knowledge import clipped
from split_client.audit.attacks.observed import observe
from split_client.audit.bench import Bench, Studied
from split_client.audit.device.answers import answered
from split_client.audit.device.game import releases
from split_client.audit.device.modes import Mode
from split_client.audit.device.rows import audit_key
from split_client.audit.device.use import forced
from split_client.audit.scoring.epsilon import Verdict, judge
from split_wire.tensor import WireDtype

Tell = Callable[[str], None]
# Shares of what is left of a mode's time.
_USE, _ANSWERS, _MESSAGES, _RESENDS = 0.25, 0.25, 0.75, 0.3
# A game of fewer releases, broken off, says nothing.
_FEWEST_RELEASES = 100


def study(bench: Bench, mode: Mode, tell: Tell) -> Studied:
    """Measure ``mode``; ``tell`` hears what goes on. Raises the errors of client and audit.

    What the time does not suffice for is left out; of an attack on a message all or nothing counts.
    """
    found, part = Studied(mode), bench.allowance.part
    if not bench.effort.alone:
        tell("use is measured")
    with part(_USE), bench.session(mode) as session:
        for number, reply in enumerate(bench.replies):
            found.used.append(forced(bench.model, session, mode, reply, _key(bench, mode, number)))
    with part(_ANSWERS), bench.session(mode) as session:
        for number, one in enumerate(bench.questions):
            key = audit_key(bench.seed, "utility", mode.name, number)
            found.answers.append(answered(bench.ends, bench.model, session, mode, one, key))
    tell("messages are sent and attacked")
    with part(_MESSAGES):
        attack_messages(bench, found)
    with part(_RESENDS):
        resend(bench, found)
    if mode.claim is not None and not bench.effort.alone:
        tell("the distinguishing game is played")
        with part(1.0):
            found.verdict = play(bench, mode)
    return found


def play(bench: Bench, mode: Mode) -> Verdict | None:
    """The distinguishing game of a mode with a claim; None where time ends it too soon."""
    if mode.claim is None:
        raise ValueError("a mode that promises nothing has nothing to lose")
    bench.allowance.check()
    pair = bench.farthest(mode.mechanism.clip)
    with bench.session(mode) as session:
        agreed = session.dtype
    played: list[tuple[float, float]] = []
    games = (_ratios(bench, mode, agreed, token, pair) for token in pair)
    with bench.allowance.part(1.0):
        for ratios in zip(*games, strict=True):
            played.append(ratios)
            bench.allowance.check()
    if len(played) < min(_FEWEST_RELEASES, bench.effort.releases):
        return None
    ratios, neighbours = np.array(played).T
    claimed = (mode.claim.epsilon(), mode.claim.mu)
    return judge(ratios, neighbours, claimed, mode.claim.delta)


def _ratios(
    bench: Bench, mode: Mode, dtype: WireDtype, token: int, pair: tuple[int, int]
) -> Iterator[float]:
    model = bench.model
    one, other = clipped(model.rows(list(pair)).astype(np.float64), mode.mechanism.clip)
    place = len(model.prefix)
    for recording in releases(model, mode, dtype, token, bench.effort.releases, bench.seed):
        row = observe(recording.exchanges).prompt_rows[place]
        yield log_ratio(row, one, other, mode.mechanism.sigma)


def _key(bench: Bench, mode: Mode, number: int) -> bytes:
    return audit_key(bench.seed, "use", mode.name, number)
