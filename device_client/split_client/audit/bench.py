"""The bench on which modes are studied, and what a study finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from split_client.audit.allowance import Allowance
from split_client.audit.attacks.attacker import Attacker
from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.attacks.lengths import Lengths
from split_client.audit.device.game import farthest_pair
from split_client.audit.device.modes import Mode
from split_client.audit.device.prompts import Question
from split_client.audit.device.truth import Truth
from split_client.audit.device.use import Reply, Used
from split_client.audit.device.victim import Victim
from split_client.audit.effort import Effort
from split_client.audit.scoring.epsilon import Verdict
from split_client.audit.scoring.recovery import Tally
from split_client.audit.session import AllStates
from split_client.model.ends import DeviceEnds
from split_wire.tensor import WireDtype


@dataclass(slots=True)
class Resends:
    """Of ``tried`` prompts sent again in their conversation, how many repeated their bytes."""

    tried: int = 0
    repeated: int = 0


@dataclass(slots=True)
class Studied:
    """Everything measured of one mode; ``tallies`` by attack, one for each of the first prompts.

    ``picked``: of the texts of each conversation with edits, how many were told from their variants
    and how many there were. ``answers``: whether each question was answered rightly. ``verdict``
    None: the mode promises nothing, or there was no time for the game.
    """

    mode: Mode
    used: list[Used] = field(default_factory=list)
    answers: list[bool] = field(default_factory=list)
    tallies: dict[str, list[Tally]] = field(default_factory=dict)
    picked: list[tuple[int, int]] = field(default_factory=list)
    lengths: list[Lengths] = field(default_factory=list)
    resends: Resends = field(default_factory=Resends)
    verdict: Verdict | None = None

    @property
    def messages(self) -> int:
        """How many messages were attacked, some of them without the attacks that take long."""
        return len(self.lengths)

    @property
    def searched(self) -> int:
        """How many of them were attacked with the model's own prior."""
        return len(self.tallies.get("language", ()))


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

    @contextmanager
    def session(self, mode: Mode) -> Iterator[AllStates]:
        """A session whose rows travel as the mode's do."""
        session = self.open_session(mode.dtype)
        try:
            yield session
        finally:
            session.close()
