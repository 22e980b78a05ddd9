"""Many sessions that join, reply, edit, cancel and leave at random on one engine.

Every reply must be what ``generate`` would say after the same ids, whoever else was in the pass.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

import torch

from split_server.engine.engine import Engine
from split_server.engine.job import EngineResult, StepJob
from split_server.kv.session_cache import SessionCache
from split_wire.tensor import Tensor
from tests import oracle
from tests.engines import submit

SESSIONS = 9
VOCABULARY = 300
LONGEST = 150


@dataclass(eq=False)
class Speaker:
    """A session: ``ids`` are cached; ``context`` and ``reply`` of what it says at the moment."""

    path: Path
    cache: SessionCache
    name: str
    ids: list[int] = field(default_factory=list)
    pending: list[int] = field(default_factory=list)
    reply: list[int] = field(default_factory=list)
    step: Future[EngineResult] | None = None

    def job(self, start: int, ids: list[int]) -> StepJob:
        rows = Tensor.from_f32(oracle.embeddings(self.path, ids).numpy(), "f32")
        return StepJob(self.cache, start, rows, "last", "f32", self.name)


class Crowd:
    """Draws what happens next; checks every reply that ends."""

    def __init__(
        self, path: Path, engine: Engine, seed: int, new_cache: Callable[[], SessionCache]
    ) -> None:
        self.path, self.engine, self.new_cache = path, engine, new_cache
        self.random = random.Random(seed)  # noqa: S311 - a test draws, no secret does
        self.speakers: list[Speaker] = []
        self.steps = self.replies = self.cancelled = 0

    def round(self) -> None:
        """Something for every session that is idle, then wait for a few of them."""
        if len(self.speakers) < SESSIONS:
            name = f"p{self.random.randrange(3)}"
            self.speakers.append(Speaker(self.path, self.new_cache(), name))
        for speaker in list(self.speakers):
            if speaker.step is None:
                self.act(speaker)
        for speaker in self.random.sample(
            self.speakers, self.random.randint(1, len(self.speakers))
        ):
            self.take(speaker)

    def act(self, speaker: Speaker) -> None:
        draw = self.random.random()
        if draw < 0.03:
            self.leave(speaker)
        elif speaker.reply and draw < 0.9 and len(speaker.ids) < LONGEST:
            self.send(speaker, len(speaker.ids), speaker.reply[-1:])
        else:
            self.edit(speaker)

    def edit(self, speaker: Speaker) -> None:
        """A new turn, or an edited one: keep some of the ids and append others."""
        self.check(speaker)
        longest = min(len(speaker.ids), LONGEST // 2)
        keep = self.random.choice([longest, self.random.randint(0, longest)])
        new = [self.random.randrange(VOCABULARY) for _ in range(self.random.choice([1, 5, 20, 60]))]
        if self.random.random() < 0.15:
            self.cancel(speaker, keep, new)
        else:
            speaker.ids = speaker.ids[:keep]
            self.send(speaker, keep, new)

    def cancel(self, speaker: Speaker, keep: int, new: list[int]) -> None:
        """Send a step and give it up; the cache holds what was kept of it, or all of it."""
        step = submit(self.engine, speaker.job(keep, new))
        if step.cancel():
            self.cancelled += 1
            # The next step of the same session comes after it, so it must be out of the engine.
            witness = Speaker(self.path, self.new_cache(), "w")
            submit(self.engine, witness.job(0, [1])).result(60)
            witness.cache.release()
        else:
            step.result(60)
        speaker.ids = speaker.ids[: min(keep, speaker.cache.length)]

    def send(self, speaker: Speaker, start: int, ids: list[int]) -> None:
        speaker.pending = ids
        speaker.step = submit(self.engine, speaker.job(start, ids))
        self.steps += 1

    def take(self, speaker: Speaker) -> None:
        if speaker.step is None:
            return
        hidden = speaker.step.result(60).hidden.to_f32()
        speaker.ids, speaker.step = speaker.ids + speaker.pending, None
        assert speaker.cache.length == len(speaker.ids)
        logits = oracle.head(self.path, torch.from_numpy(hidden.copy()))
        speaker.reply.append(int(logits[0].argmax()))

    def leave(self, speaker: Speaker) -> None:
        self.check(speaker)
        speaker.cache.release()
        self.speakers.remove(speaker)

    def check(self, speaker: Speaker) -> None:
        """What it said is what the whole model says after the ids that were cached then."""
        if not speaker.reply:
            return
        said, speaker.reply = speaker.reply, []
        context = speaker.ids[: len(speaker.ids) - len(said) + 1]
        logits = oracle.logits(self.path, context + said[:-1])
        assert said == logits[len(context) - 1 :].argmax(-1).tolist()
        self.replies += 1
        if self.replies % 20 == 0:
            self.ask_generate(context, said)

    def ask_generate(self, context: list[int], said: list[int]) -> None:
        wanted = oracle.greedy(self.path, context, len(said))
        assert said[: len(wanted)] == wanted

    def end(self) -> None:
        for speaker in list(self.speakers):
            self.take(speaker)
            self.leave(speaker)
