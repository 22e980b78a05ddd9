"""A whole audit of one server: every mode studied, then an adapter queried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from split_client.adapters.listing import fetch_adapters
from split_client.audit.allowance import Allowance
from split_client.audit.attacks.extraction import extract, relative_error
from split_client.audit.bench import Bench, Studied
from split_client.audit.device.adapters import query
from split_client.audit.device.game import releases
from split_client.audit.device.modes import Mode
from split_client.audit.device.use import clean_replies
from split_client.audit.effort import Effort
from split_client.audit.forecast import Foreteller, Pace, expected
from split_client.audit.layout import Material, Other, laid_out
from split_client.audit.reach import Reach
from split_client.audit.study import study
from split_client.model.ends import DeviceEnds

Tell = Callable[[str], None]
# Shares of the time: of what is left for clean replies, of a mode's for adapters.
_REPLIES, _ADAPTERS = 0.15, 0.2
# Releases by which their time is guessed.
_TIMED = 4
_PARTS = (0.125, 0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.25)
_HELD_OUT = 64


@dataclass(frozen=True, slots=True)
class Extraction:
    """``points``: queries, and the relative error on other states of what they gave away."""

    adapter: str
    rank: int
    points: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Audited:
    """``messages``: lengths of all of them in tokens.

    ``queried``: whether there was time for an adapter; ``extraction`` None: there is none.
    """

    studied: tuple[Studied, ...]
    messages: tuple[int, ...]
    queried: bool
    extraction: Extraction | None


@dataclass(frozen=True, slots=True)
class Time:
    """The time that an audit has; ``minutes`` as they were given, None: as long as it takes."""

    allowance: Allowance = field(default_factory=Allowance)
    minutes: float | None = None


def audit(
    ends: DeviceEnds,
    server: Reach,
    modes: Sequence[Mode],
    material: Material,
    effort: Effort,
    seed: int,
    tell: Tell,
    time: Time | None = None,
    other: Other | None = None,
) -> Audited:
    """Study ``modes`` one after the other, each with its share of the time.

    ``other``: a language model beside the audited one that the attacker has at hand. Raises the
    errors of client and audit.
    """
    time = time or Time()
    with ExitStack() as stack:
        tell("a model writes messages as people do, for the counts")
        bench = laid_out(stack, ends, server, material, effort, seed, time.allowance, other)
        if not effort.alone:
            tell("replies without noise are made")
        replied = _replies(bench, material)
        foretell = _foretelling(bench, modes, replied, Foreteller(tell, time.minutes))
        studied = []
        for number, mode in enumerate(modes, 1):
            told = _headed(tell, f"[{number}/{len(modes)}] {mode.name}")
            with time.allowance.part(1.0 / (len(modes) - number + 1 + _ADAPTERS)):
                studied.append(study(replace(bench, first_message=foretell), mode, told))
        messages = tuple(len(truth.secret) for truth in bench.truths)
        if effort.alone:
            return Audited(tuple(studied), messages, True, None)
        tell("adapters are queried")
        queried, extraction = False, None
        with time.allowance.part(1.0):
            time.allowance.check()
            extraction = _extraction(bench, server, material)
            queried = True
        return Audited(tuple(studied), messages, queried, extraction)


def _replies(bench: Bench, material: Material) -> float:
    """The clean replies, as many as time allows; seconds that each took."""
    effort, clock = bench.effort, bench.allowance.now
    requests = material.tasks or [one.question for one in material.questions]
    session, began = bench.open_session(None), clock()
    try:
        with bench.allowance.part(_REPLIES):
            made = clean_replies(
                bench.ends, session, requests[: effort.replies], effort.reply_length
            )
            for reply in made:
                bench.replies.append(reply)
    finally:
        session.close()
    return (clock() - began) / max(1, len(bench.replies))


def _foretelling(
    bench: Bench, modes: Sequence[Mode], replied: float, foreteller: Foreteller
) -> Callable[[float], None]:
    noised = [mode for mode in modes if mode.claim is not None]

    def first_message(seconds: float) -> None:
        if foreteller.told:
            return
        release = _release_seconds(bench, noised[-1]) if noised else 0.0
        # A reply that is forced along is one step for its dozens.
        pace = Pace(seconds, replied / bench.effort.reply_length, replied / 3, release)
        lengths = [len(truth.secret) for truth in bench.truths]
        whole = expected(pace, bench.effort, lengths, len(modes) - len(noised), len(noised))
        foreteller.say(whole, seconds)

    return first_message


def _release_seconds(bench: Bench, mode: Mode) -> float:
    """Of one release of the game, by a few of them."""
    began = bench.allowance.now()
    token = bench.truths[0].secret[0]
    for _ in releases(bench.model, mode, mode.dtype or "f32", token, _TIMED, bench.seed):
        pass
    return (bench.allowance.now() - began) / _TIMED


def _headed(tell: Tell, head: str) -> Tell:
    return lambda text: tell(f"{head}: {text}")


def _extraction(bench: Bench, server: Reach, material: Material) -> Extraction | None:
    """The first adapter in the clear, from ever more of its answers."""
    offered = [one for one in fetch_adapters(server.endpoint, server.token) if not one.encrypted]
    if not offered:
        return None
    adapter, hidden = offered[0], bench.model.hidden
    counts = [round(part * hidden) for part in _PARTS]
    texts = [one.question + " " + one.answer for one in material.questions]
    texts = texts[: bench.effort.questions]
    session = bench.open_session(None)
    try:
        states, added = query(bench.ends, session, adapter.name, texts, counts[-1] + _HELD_OUT)
    finally:
        session.close()
    held = slice(len(states) - _HELD_OUT, None)
    points = [
        (count, relative_error(extract(states[:count], added[:count]), states[held], added[held]))
        for count in counts
        if count <= len(states) - _HELD_OUT
    ]
    return Extraction(adapter.name, adapter.rank, tuple(points))
