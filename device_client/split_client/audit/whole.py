"""A whole audit of one server: every mode studied, then an adapter queried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from split_client.adapters.listing import fetch_adapters
from split_client.audit.attacks.attacker import Attacker
from split_client.audit.attacks.extraction import extract, relative_error
from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.device.adapters import query
from split_client.audit.device.modes import Mode
from split_client.audit.device.prompts import Prompt, Question
from split_client.audit.device.truth import truths
from split_client.audit.device.victim import Victim
from split_client.audit.effort import Effort
from split_client.audit.reach import Reach
from split_client.audit.session import AllStates
from split_client.audit.study import Bench, Studied, study
from split_client.model.ends import DeviceEnds
from split_wire.tensor import WireDtype

Tell = Callable[[str], None]
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
    """``extraction`` None: the server offers no adapter."""

    studied: tuple[Studied, ...]
    extraction: Extraction | None


@dataclass(frozen=True, slots=True)
class Material:
    """The texts: messages with secrets, and questions that also stand for the usual text."""

    prompts: Sequence[Prompt]
    questions: Sequence[Question]


def audit(
    ends: DeviceEnds,
    server: Reach,
    modes: Sequence[Mode],
    material: Material,
    effort: Effort,
    seed: int,
    tell: Tell,
) -> Audited:
    """Study ``modes`` one after the other. Raises the errors of client and audit."""
    with ExitStack() as stack:
        bench = laid_out(stack, ends, server, material, effort, seed)
        studied = []
        for number, mode in enumerate(modes, 1):
            told = _headed(tell, f"[{number}/{len(modes)}] {mode.name}")
            studied.append(study(bench, mode, told))
        tell("adapters are queried")
        return Audited(tuple(studied), _extraction(bench, server))


def laid_out(
    stack: ExitStack,
    ends: DeviceEnds,
    server: Reach,
    material: Material,
    effort: Effort,
    seed: int,
) -> Bench:
    """The bench on which modes are studied; ``stack`` closes it. Raises PromptNotSent."""
    model = PublicModel(ends, [one.question for one in material.questions])
    victim, own = Victim(ends, server), AllStates(server, ends.manifest)
    stack.callback(victim.close)
    stack.callback(own.close)
    frame = (len(model.prefix), len(model.suffix))
    return Bench(
        ends,
        model,
        victim,
        Attacker(model, own, effort, seed),
        lambda dtype: _session(server, ends, dtype),
        truths(ends, tuple(material.prompts[: effort.prompts]), frame),
        material.questions[: effort.questions],
        effort,
        seed,
    )


def _headed(tell: Tell, head: str) -> Tell:
    return lambda text: tell(f"{head}: {text}")


def _session(server: Reach, ends: DeviceEnds, dtype: WireDtype | None) -> AllStates:
    return AllStates(server, ends.manifest, dtype)


def _extraction(bench: Bench, server: Reach) -> Extraction | None:
    """The first adapter in the clear, from ever more of its answers."""
    offered = [one for one in fetch_adapters(server.endpoint, server.token) if not one.encrypted]
    if not offered:
        return None
    adapter, hidden = offered[0], bench.model.hidden
    counts = [round(part * hidden) for part in _PARTS]
    texts = [one.question + " " + one.answer for one in bench.questions]
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
