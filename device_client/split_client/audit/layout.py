"""The bench of one audit, laid out: sessions, priors, messages."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from split_client.audit.allowance import Allowance
from split_client.audit.attacks.attacker import Attacker
from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.attacks.language.blend import Blend, blended
from split_client.audit.attacks.language.fitted import LEAST, shares
from split_client.audit.attacks.language.flock import Flock
from split_client.audit.attacks.language.foreign import ForeignPrior
from split_client.audit.attacks.language.model import ModelPrior
from split_client.audit.attacks.language.written import written
from split_client.audit.attacks.lattice.search import Prior
from split_client.audit.attacks.ngram.trained import TokenPrior
from split_client.audit.bench import Bench
from split_client.audit.device.prompts import Prompt, Question, built_in_tasks
from split_client.audit.device.truth import truths
from split_client.audit.device.victim import Victim
from split_client.audit.effort import Effort
from split_client.audit.reach import Reach
from split_client.audit.session import AllStates
from split_client.audit.texts.sources import public_texts
from split_client.model.ends import DeviceEnds

# Of the time, for what a model writes, and for how much is believed of it beside counts.
_WRITING, _FITTING = 0.25, 0.1
# Shares where there is no time to fit them: of counts beside models, of the audited model beside
# another one.
_COUNTED, _OWN = 0.25, 0.1


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
    running = _Running.of(stack, model, ends, server, effort, allowance)
    its = None
    if other is not None:
        public = PublicModel(other.ends, [])
        its = _Running.of(stack, public, other.ends, other.server, effort, allowance)
    # Messages of the model that has read more, where there are two.
    texts = replace(texts, written=(its or running).written(effort.written, seed, allowance))
    counts = TokenPrior(model, texts, [one.question for one in material.questions])
    # Behind messages of other people a model expects more of the same.
    made: Prior = ModelPrior(model, running.flock(stack), model.prefix)
    weighed = partial(_weighed, model, counts.lead, allowance)
    if its is not None:
        foreign = ForeignPrior(model, its.model, its.flock(stack), its.model.prefix)
        made = weighed((made, foreign), _OWN, 0.0)
    language = weighed((counts, made), _COUNTED, LEAST)
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


def _weighed(
    model: PublicModel,
    lead: tuple[int, ...],
    allowance: Allowance,
    pair: tuple[Prior, Prior],
    first: float,
    least: float,
) -> Blend:
    """Both as one, as everyday requests are likeliest, which neither counts nor messages have.

    ``first``: the first one's share where there is no time for that.
    """
    requests = [(*model.tokens(text), *model.suffix[:1]) for text in built_in_tasks()]
    worth: tuple[float, ...] = (first, 1.0 - first)
    with allowance.part(_FITTING):
        worth = shares(pair, lead, requests, least)
    return blended(worth, pair)


@dataclass(frozen=True, slots=True)
class _Running:
    """A model and the attacker's ``sessions`` of it, which are opened when they are needed."""

    model: PublicModel
    sessions: Sequence[AllStates]

    @classmethod
    def of(
        cls,
        stack: ExitStack,
        model: PublicModel,
        ends: DeviceEnds,
        server: Reach,
        effort: Effort,
        allowance: Allowance,
    ) -> _Running:
        sessions = [AllStates(server, ends.manifest, None, allowance) for _ in range(effort.flock)]
        for session in sessions:
            stack.callback(session.close)
        return cls(model, sessions)

    def written(self, count: int, seed: int, allowance: Allowance) -> tuple[str, ...]:
        """About ``count`` messages as the model thinks that people write them."""
        found: list[str] = []
        with allowance.part(_WRITING):
            # What was written before the time was up stays.
            found.extend(written(self.model, self.sessions, count, np.random.default_rng(seed)))
        return tuple(found)

    def flock(self, stack: ExitStack) -> Flock:
        """Their states, one run of texts after the other."""
        flock = Flock(self.model, self.sessions)
        stack.callback(flock.close)
        return flock
