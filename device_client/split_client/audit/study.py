"""One mode under study: used, recorded, attacked, scored and gambled with, as time allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from split_client.audit.allowance import Allowance
from split_client.audit.attacks.attacker import Attacker
from split_client.audit.attacks.averaging import distinct
from split_client.audit.attacks.distinguish import log_ratio
from split_client.audit.attacks.guess import Guess
from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.attacks.lengths import Lengths, lengths
from split_client.audit.attacks.nearest import clipped
from split_client.audit.attacks.observed import observe
from split_client.audit.device.answers import answered
from split_client.audit.device.game import farthest_pair, releases
from split_client.audit.device.modes import Mode
from split_client.audit.device.prompts import Question
from split_client.audit.device.rows import audit_key
from split_client.audit.device.truth import Truth
from split_client.audit.device.use import Reply, Used, forced
from split_client.audit.device.victim import Release, Victim
from split_client.audit.effort import Effort
from split_client.audit.recording import Recording
from split_client.audit.scoring.epsilon import Verdict, judge
from split_client.audit.scoring.recovery import Tally, tally
from split_client.audit.session import AllStates
from split_client.model.ends import DeviceEnds
from split_wire.tensor import WireDtype

Tell = Callable[[str], None]
# Shares of what is left of a mode's time; of the messages' time what is cheap gets so much.
_USE, _ANSWERS, _MESSAGES, _RESENDS = 0.25, 0.25, 0.75, 0.3
_LOOKS = 0.6
# A game of fewer releases, broken off, says nothing.
_FEWEST_RELEASES = 100


@dataclass(slots=True)
class Resends:
    """Of ``tried`` prompts sent again in their conversation, how many repeated their bytes."""

    tried: int = 0
    repeated: int = 0


@dataclass(slots=True)
class Studied:
    """Everything measured of one mode; ``tallies`` by attack, one for each of the first prompts.

    ``answers``: whether each question was answered rightly. ``verdict`` None: the mode promises
    nothing, or there was no time for the game.
    """

    mode: Mode
    used: list[Used] = field(default_factory=list)
    answers: list[bool] = field(default_factory=list)
    tallies: dict[str, list[Tally]] = field(default_factory=dict)
    lengths: list[Lengths] = field(default_factory=list)
    resends: Resends = field(default_factory=Resends)
    verdict: Verdict | None = None

    @property
    def messages(self) -> int:
        """How many messages were attacked, some of them without the attacks that take long."""
        return len(self.lengths)

    @property
    def searched(self) -> int:
        """How many of them were attacked by beams."""
        return len(self.tallies.get("nearest_beam", ()))


@dataclass(frozen=True, slots=True)
class Bench:
    """Everything with which the modes of one audit are studied.

    ``questions`` have answers that the model was trained to know. ``first_message`` hears how many
    seconds the first message of each mode took.
    """

    ends: DeviceEnds
    model: PublicModel
    victim: Victim
    attacker: Attacker
    open_session: Callable[[WireDtype | None], AllStates]
    truths: Sequence[Truth]
    questions: Sequence[Question]
    effort: Effort
    seed: int
    allowance: Allowance = field(default_factory=Allowance)
    replies: list[Reply] = field(default_factory=list)
    pairs: dict[float | None, tuple[int, int]] = field(default_factory=dict)
    first_message: Callable[[float], None] = lambda _: None

    def farthest(self, clip: float | None) -> tuple[int, int]:
        """The tokens of the game, looked for once."""
        if clip not in self.pairs:
            self.pairs[clip] = farthest_pair(self.model, clip)
        return self.pairs[clip]


def study(bench: Bench, mode: Mode, tell: Tell) -> Studied:
    """Measure ``mode``; ``tell`` hears what goes on. Raises the errors of client and audit.

    What the time does not suffice for is left out; of an attack on a message all or nothing counts.
    """
    found, part = Studied(mode), bench.allowance.part
    tell("use is measured")
    with part(_USE), _session(bench, mode) as session:
        for number, reply in enumerate(bench.replies):
            found.used.append(forced(bench.model, session, mode, reply, _key(bench, mode, number)))
    with part(_ANSWERS), _session(bench, mode) as session:
        for number, one in enumerate(bench.questions):
            key = audit_key(bench.seed, "utility", mode.name, number)
            found.answers.append(answered(bench.ends, bench.model, session, mode, one, key))
    tell("messages are sent and attacked")
    with part(_MESSAGES):
        _messages(bench, found)
    with part(_RESENDS):
        _resend(bench, found)
    if mode.claim is not None:
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
    with _session(bench, mode) as session:
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


def _messages(bench: Bench, found: Studied) -> None:
    """First what is cheap for all, then what runs the model thousands of times."""
    seen: list[Release] = []
    with bench.allowance.part(_LOOKS):
        for index in range(len(bench.truths)):
            began = bench.allowance.now()
            first = _ask(bench, found.mode, index, 0, bench.effort.reply_tokens)
            _count(found, _looked_up(bench, found.mode, index, first))
            observed = observe(first.recording.exchanges)
            found.lengths.append(lengths(observed, _frame(bench.model)))
            seen.append(first)
            if index == 0:
                bench.first_message(bench.allowance.now() - began)
    for index, first in enumerate(seen):
        sightings = [first, *_further(bench, found.mode, index)]
        _count(found, _searched(bench, found.mode, index, sightings))


def _count(found: Studied, tallies: dict[str, Tally]) -> None:
    for name, one in tallies.items():
        found.tallies.setdefault(name, []).append(one)


def _further(bench: Bench, mode: Mode, index: int) -> list[Release]:
    """The prompt alone in further conversations."""
    count = bench.effort.sessions[-1] if mode.claim is not None else 1
    return [_ask(bench, mode, index, number, 0) for number in range(1, count)]


def _ask(bench: Bench, mode: Mode, index: int, number: int, reply: int) -> Release:
    key = audit_key(bench.seed, "prompt", mode.name, index, number)
    rows = mode.rows.conversation(key)
    return bench.victim.ask(bench.truths[index].ids, rows, mode.dtype, reply)


def _looked_up(bench: Bench, mode: Mode, index: int, first: Release) -> dict[str, Tally]:
    exchanges = first.recording.exchanges
    tallies = _judged(bench, index, bench.attacker.looked_up(exchanges, mode.mechanism))
    reply, text = bench.attacker.reply(exchanges), bench.model.text
    return tallies | {"reply_head": tally(reply, first.reply, (), text)}


def _searched(bench: Bench, mode: Mode, index: int, seen: Sequence[Release]) -> dict[str, Tally]:
    exchanges = [release.recording.exchanges for release in seen]
    tallies = _judged(bench, index, bench.attacker.searched(exchanges, mode.mechanism))
    truth, text = bench.truths[index], bench.model.text
    if index < bench.effort.matched:
        matched = bench.attacker.matched(exchanges[0], mode.mechanism, index)
        secret = truth.secret[matched.position : matched.position + 1]
        tallies["vocabulary"] = tally(matched.guess, secret, (), text)
    return tallies


def _judged(bench: Bench, index: int, guesses: dict[str, Guess]) -> dict[str, Tally]:
    truth, text = bench.truths[index], bench.model.text
    return {
        name: tally(guess, truth.secret, truth.sensitive, text) for name, guess in guesses.items()
    }


def _resend(bench: Bench, found: Studied) -> None:
    for index in range(min(bench.effort.resends, len(bench.truths))):
        sent = [_rows(_ask(bench, found.mode, index, 0, 0).recording) for _ in range(2)]
        found.resends.tried += 1
        found.resends.repeated += distinct(sent) == 1


@contextmanager
def _session(bench: Bench, mode: Mode) -> Iterator[AllStates]:
    session = bench.open_session(mode.dtype)
    try:
        yield session
    finally:
        session.close()


def _key(bench: Bench, mode: Mode, number: int) -> bytes:
    return audit_key(bench.seed, "use", mode.name, number)


def _rows(recording: Recording) -> NDArray[np.float32]:
    return observe(recording.exchanges).prompt_rows


def _frame(model: PublicModel) -> int:
    return len(model.prefix) + len(model.suffix)
