"""Measures a checkpoint: exact answers on held-out and blind questions, tasks, adapter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from scripts.demo_model.chat import Chat
from scripts.demo_model.corpus.conversation import Conversation
from scripts.demo_model.evaluation.cases import Case


@dataclass
class Score:
    """Right answers of a group, in all and by kind and topic, with the mistakes."""

    right: int = 0
    total: int = 0
    groups: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    mistakes: list[tuple[str, str]] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Right answers over all answers, 0 to 1."""
        return self.right / max(1, self.total)

    def add(self, case: Case, reply: str) -> None:
        """Count one reply."""
        right = case.judge(reply)
        self.right += right
        self.total += 1
        for group in (f"kind {case.kind}", f"topic {case.topic}"):
            self.groups[group][0] += right
            self.groups[group][1] += 1
        if not right:
            self.mistakes.append((case.question, reply))

    def as_json(self) -> dict[str, object]:
        """Plain data for ``json.dumps``."""
        groups = {name: f"{r}/{n}" for name, (r, n) in sorted(self.groups.items())}
        share = round(100 * self.share, 1)
        return {"right": self.right, "total": self.total, "percent": share, "groups": groups}


def score(chat: Chat, cases: Sequence[Case]) -> Score:
    """Ask every case once, greedily. Earlier turns without an answer are asked first."""
    ready = [_with_own_answers(chat, case) for case in cases]
    replies = chat.replies([case.messages() for case in ready])
    result = Score()
    for case, reply in zip(ready, replies, strict=True):
        result.add(case, reply)
    return result


def _with_own_answers(chat: Chat, case: Case) -> Case:
    turns = case.chat.turns
    for place, (question, answer) in enumerate(turns):
        if not answer:
            before = Conversation(case.chat.system, turns[:place]).messages()
            reply = chat.replies([[*before, {"role": "user", "content": question}]])[0]
            turns[place] = (question, reply)
    return case
