"""The amount of work that an audit puts into each mode."""

from __future__ import annotations

from dataclasses import dataclass, replace

_WIDER = 3


@dataclass(frozen=True, slots=True)
class Effort:
    """Counts. ``sessions``: how many conversations are averaged, ascending, the first of them 1.
    ``possible``: tokens that are weighed at a place; ``texts`` that are followed at a time by
    counts, and ``beam``, by the model, in ``flock`` sessions at once. ``written``: messages that
    the model writes for the counts. ``alone``: one sending of
    each message and nothing beside it.

    ``replies``: clean ones that use is measured along, of up to ``reply_length`` tokens.
    ``questions`` with right answers, where the model has some. ``reply_tokens`` of what is
    recorded. ``releases``: of each of the two inputs of the distinguishing game. ``matched``:
    prompts that vocabulary matching tries one position of, with ``candidates`` tokens.
    """

    prompts: int
    replies: int
    reply_length: int
    questions: int
    sessions: tuple[int, ...]
    possible: int
    texts: int
    beam: int
    flock: int
    written: int
    reply_tokens: int
    matched: int
    candidates: int
    resends: int
    releases: int
    alone: bool = False

    def on_one_sending(self) -> Effort:
        """The same attacks on one sending of each message, and nothing else."""
        return replace(
            self,
            replies=0,
            questions=0,
            sessions=self.sessions[:1],
            matched=0,
            resends=0,
            releases=0,
            alone=True,
        )

    def followed(self, beam: int) -> Effort:
        """The same with as many texts followed by models."""
        return replace(self, beam=beam)

    def with_another_model(self) -> Effort:
        """The same where another model is run on texts: what is one token to it is often several
        of the audited one's, and texts that differ in a single word fill the places of others.
        """
        return self.followed(_WIDER * self.beam)


FULL = Effort(
    prompts=10_000,
    replies=24,
    reply_length=32,
    questions=100,
    sessions=(1, 4, 16),
    possible=800,
    texts=256,
    beam=32,
    flock=24,
    written=1200,
    reply_tokens=16,
    matched=30,
    candidates=32,
    resends=5,
    releases=4000,
)
QUICK = Effort(
    prompts=8,
    replies=8,
    reply_length=24,
    questions=20,
    sessions=(1, 4),
    possible=400,
    texts=128,
    beam=24,
    flock=12,
    written=120,
    reply_tokens=4,
    matched=4,
    candidates=12,
    resends=2,
    releases=1000,
)
