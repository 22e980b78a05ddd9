"""The bench of one audit, laid out: sessions, priors, messages."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from split_client.audit.allowance import Allowance
from split_client.audit.attacks.attacker import Attacker
from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.attacks.language.blend import Blend
from split_client.audit.attacks.language.flock import Flock
from split_client.audit.attacks.language.foreign import ForeignPrior
from split_client.audit.attacks.language.model import ModelPrior
from split_client.audit.attacks.ngram.trained import TokenPrior
from split_client.audit.bench import Bench
from split_client.audit.device.prompts import Prompt, Question
from split_client.audit.device.truth import truths
from split_client.audit.device.victim import Victim
from split_client.audit.effort import Effort
from split_client.audit.reach import Reach
from split_client.audit.session import AllStates
from split_client.audit.texts.sources import public_texts
from split_client.model.ends import DeviceEnds

# Shares of the prior: of counts beside the audited model, of another model beside both.
_COUNTED, _FOREIGN = 0.4, 0.5


@dataclass(frozen=True, slots=True)
class Material:
    """The texts: messages with secrets, and questions, which also stand for the usual text.

    ``tasks``: what the model replies to where use is measured; none: the questions, to which it
    then knows the right answers.
    """

    prompts: Sequence[Prompt]
    questions: Sequence[Question]
    tasks: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Other:
    """Another language model, which the attacker runs at a ``server`` of its own."""

    ends: DeviceEnds
    server: Reach


def laid_out(
    stack: ExitStack,
    ends: DeviceEnds,
    server: Reach,
    material: Material,
    effort: Effort,
    seed: int,
    allowance: Allowance | None = None,
    other: Other | None = None,
) -> Bench:
    """The bench on which modes are studied; ``stack`` closes it. Raises PromptNotSent."""
    allowance = allowance or Allowance()
    model = PublicModel(ends, [one.question for one in material.questions])
    victim = Victim(ends, server, allowance)
    own = AllStates(server, ends.manifest, None, allowance)
    stack.callback(victim.close)
    stack.callback(own.close)
    texts = public_texts()
    counts = TokenPrior(model, texts, [one.question for one in material.questions])
    several = _flock(stack, model, ends, server, effort, allowance)
    made = ModelPrior(model, several, model.behind(texts.typical))
    language = Blend([(_COUNTED, counts), (1.0 - _COUNTED, made)])
    if other is not None:
        its = PublicModel(other.ends, [])
        several = _flock(stack, its, other.ends, other.server, effort, allowance)
        foreign = ForeignPrior(model, its, several, its.behind(texts.typical))
        language = Blend([(_FOREIGN, foreign), (1.0 - _FOREIGN, language)])
    frame = (len(model.prefix), len(model.suffix))
    return Bench(
        ends,
        model,
        victim,
        Attacker(model, own, counts, language, effort, seed),
        lambda dtype: AllStates(server, ends.manifest, dtype, allowance),
        truths(ends, tuple(material.prompts[: effort.prompts]), frame),
        () if material.tasks else material.questions[: effort.questions],
        effort,
        seed,
        allowance,
    )


def _flock(
    stack: ExitStack,
    model: PublicModel,
    ends: DeviceEnds,
    server: Reach,
    effort: Effort,
    allowance: Allowance,
) -> Flock:
    """Sessions of ``model`` at ``server``; they are opened when they are needed."""
    sessions = [AllStates(server, ends.manifest, None, allowance) for _ in range(effort.flock)]
    for session in sessions:
        stack.callback(session.close)
    flock = Flock(model, sessions)
    stack.callback(flock.close)
    return flock
