"""Replies that are known beforehand, decoded over a network whose time is computed."""

from __future__ import annotations

from dataclasses import dataclass

from split_client.generation.speculation.drafter import Drafter
from split_client.generation.speculation.drafts import StepCost


@dataclass(frozen=True, slots=True)
class Network:
    """Seconds: ``round_trip``, ``fixed`` of a pass, ``row`` of each of its rows, ``head`` for each
    choice; ``uplink`` in bit/s, and ``row_bytes`` beside ``header_bytes`` of a step.
    """

    round_trip: float = 0.05
    fixed: float = 0.008
    row: float = 0.0007
    head: float = 0.007
    uplink: float = 50e6
    row_bytes: int = 770
    header_bytes: int = 330

    def sent(self, rows: int) -> int:
        return self.header_bytes + rows * self.row_bytes

    def step(self, rows: int) -> StepCost:
        compute = self.fixed + self.row * rows
        seconds = self.round_trip + compute + 8 * self.sent(rows) / self.uplink
        return StepCost(rows, rows, seconds, compute, 0.0)


@dataclass(slots=True)
class Decoded:
    """What a reply of ``tokens`` cost, in seconds, steps and bytes that were sent."""

    tokens: int = 0
    seconds: float = 0.0
    steps: int = 0
    sent: int = 0
    drafted: int = 0

    @property
    def tokens_per_step(self) -> float:
        return self.tokens / self.steps


def plain(network: Network, tokens: int) -> Decoded:
    """One step a token."""
    seconds = tokens * (network.step(1).seconds + network.head)
    return Decoded(tokens, seconds, tokens, tokens * network.sent(1))


def decoded(
    drafter: Drafter, network: Network, prompt: list[int], reply: list[int], most: int = 15
) -> Decoded:
    """``reply`` token by token, as a look-ahead takes them from the rows of its steps."""
    told, known = Decoded(len(reply)), list(prompt)
    while len(known) < len(prompt) + len(reply):
        done = len(known) - len(prompt)
        draft = drafter.draft(known, min(most, len(reply) - done - 1))
        cost = network.step(1 + len(draft.tokens))
        drafter.stepped(cost)
        accepted = 0
        while accepted < len(draft.tokens) and draft.tokens[accepted] == reply[done + accepted]:
            accepted += 1
        if draft.tokens:
            drafter.judged(draft, accepted)
        for _ in range(accepted + 1):
            drafter.head(network.head)
        known += reply[done : done + accepted + 1]
        told.steps += 1
        told.drafted += len(draft.tokens)
        told.sent += network.sent(cost.rows)
        told.seconds += cost.seconds + network.head * (accepted + 1)
    drafter.replied(prompt, reply)
    return told
