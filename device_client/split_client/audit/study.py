"""One mode under study: recorded, attacked, scored, used and gambled with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.attacker import Attacker
from split_client.audit.attacks.averaging import distinct
from split_client.audit.attacks.distinguish import log_ratio
from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.attacks.lengths import Lengths, lengths
from split_client.audit.attacks.nearest import clipped
from split_client.audit.attacks.observed import observe
from split_client.audit.device.game import farthest_pair, releases
from split_client.audit.device.modes import Mode
from split_client.audit.device.prompts import Question
from split_client.audit.device.rows import audit_key
from split_client.audit.device.truth import Truth
from split_client.audit.device.utility import Answered, answer
from split_client.audit.device.victim import Release, Victim
from split_client.audit.effort import Effort
from split_client.audit.recording import Recording
from split_client.audit.scoring.epsilon import Verdict, judge
from split_client.audit.scoring.recovery import Tally, tally
from split_client.audit.session import AllStates
from split_client.model.ends import DeviceEnds
from split_wire.tensor import WireDtype

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Resends:
    """Of ``tried`` prompts sent again in their conversation, how many repeated their bytes."""

    tried: int
    repeated: int


@dataclass(frozen=True, slots=True)
class Studied:
    """Everything measured of one mode; ``tallies`` by attack, one for each prompt.

    ``verdict`` None: the mode promises nothing.
    """

    mode: Mode
    tallies: dict[str, list[Tally]]
    answers: list[Answered]
    resends: Resends
    lengths: list[Lengths]
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class Bench:
    """Everything with which the modes of one audit are studied."""

    ends: DeviceEnds
    model: PublicModel
    victim: Victim
    attacker: Attacker
    open_session: Callable[[WireDtype | None], AllStates]
    truths: Sequence[Truth]
    questions: Sequence[Question]
    effort: Effort
    seed: int


def study(bench: Bench, mode: Mode, tell: Tell) -> Studied:
    """Measure ``mode``; ``tell`` hears what goes on. Raises the errors of client and audit."""
    tell("conversations are recorded")
    sightings = [_sightings(bench, mode, index) for index in range(len(bench.truths))]
    tell("messages are attacked")
    tallies = _attacked(bench, mode, sightings)
    tell("use is measured")
    answers = _used(bench, mode)
    resends = _resent(bench, mode)
    counts = [
        lengths(observe(seen[0].recording.exchanges), _frame(bench.model)) for seen in sightings
    ]
    verdict = None
    if mode.claim is not None:
        tell("the distinguishing game is played")
        verdict = play(bench, mode)
    return Studied(mode, tallies, answers, resends, counts, verdict)


def play(bench: Bench, mode: Mode) -> Verdict:
    """The distinguishing game of a mode with a claim."""
    if mode.claim is None:
        raise ValueError("a mode that promises nothing has nothing to lose")
    pair = farthest_pair(bench.model, mode.mechanism.clip)
    session = bench.open_session(mode.dtype)
    try:
        agreed = session.dtype
    finally:
        session.close()
    played = [_ratios(bench, mode, agreed, token, pair) for token in pair]
    claimed = (mode.claim.epsilon(), mode.claim.mu)
    return judge(played[0], played[1], claimed, mode.claim.delta)


def _ratios(
    bench: Bench, mode: Mode, dtype: WireDtype, token: int, pair: tuple[int, int]
) -> NDArray[np.float64]:
    model = bench.model
    one, other = clipped(model.rows(list(pair)).astype(np.float64), mode.mechanism.clip)
    place = len(model.prefix)
    recorded = releases(model, mode, dtype, token, bench.effort.releases, bench.seed)
    rows = (observe(recording.exchanges).prompt_rows[place] for recording in recorded)
    return np.array([log_ratio(row, one, other, mode.mechanism.sigma) for row in rows])


def _sightings(bench: Bench, mode: Mode, index: int) -> list[Release]:
    """The prompt with its reply, then the prompt alone in further conversations."""
    count = bench.effort.sessions[-1] if mode.claim is not None else 1
    return [
        _ask(bench, mode, index, number, bench.effort.reply_tokens if number == 0 else 0)
        for number in range(count)
    ]


def _ask(bench: Bench, mode: Mode, index: int, number: int, reply: int) -> Release:
    key = audit_key(bench.seed, "prompt", mode.name, index, number)
    rows = mode.rows.conversation(key)
    return bench.victim.ask(bench.truths[index].ids, rows, mode.dtype, reply)


def _attacked(
    bench: Bench, mode: Mode, sightings: Sequence[Sequence[Release]]
) -> dict[str, list[Tally]]:
    tallies: dict[str, list[Tally]] = {}

    def add(name: str, one: Tally) -> None:
        tallies.setdefault(name, []).append(one)

    text = bench.model.text
    for index, (truth, seen) in enumerate(zip(bench.truths, sightings, strict=True)):
        exchanges = [release.recording.exchanges for release in seen]
        guesses = bench.attacker.priors(exchanges[0])
        guesses |= bench.attacker.message(exchanges, mode.mechanism)
        for name, guess in guesses.items():
            add(name, tally(guess, truth.secret, truth.sensitive, text))
        reply = seen[0].reply
        add("reply_head", tally(bench.attacker.reply(exchanges[0]), reply, (), text))
        if index < bench.effort.matched:
            matched = bench.attacker.matched(exchanges[0], mode.mechanism, index)
            secret = truth.secret[matched.position : matched.position + 1]
            add("vocabulary", tally(matched.guess, secret, (), text))
    return tallies


def _used(bench: Bench, mode: Mode) -> list[Answered]:
    session = bench.open_session(mode.dtype)
    try:
        return answer(bench.ends, bench.model, session, mode, bench.questions, bench.seed)
    finally:
        session.close()


def _resent(bench: Bench, mode: Mode) -> Resends:
    tried = min(bench.effort.resends, len(bench.truths))
    repeated = sum(
        distinct([_rows(_ask(bench, mode, index, 0, 0).recording) for _ in range(2)]) == 1
        for index in range(tried)
    )
    return Resends(tried, repeated)


def _rows(recording: Recording) -> NDArray[np.float32]:
    return observe(recording.exchanges).prompt_rows


def _frame(model: PublicModel) -> int:
    return len(model.prefix) + len(model.suffix)
