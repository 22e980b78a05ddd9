"""An audit's figures with confidence intervals, for whoever shows or stores them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from statistics import median

from split_client.audit.attacks.lengths import identified
from split_client.audit.device.utility import accuracy_pairs, perplexity_pairs
from split_client.audit.scoring.bootstrap import Bootstrap, Figure
from split_client.audit.scoring.epsilon import Verdict
from split_client.audit.scoring.recovery import Tally, columns
from split_client.audit.study import Resends, Studied

PRIORS = ("prior_frequent", "prior_language")
SINGLE = ("nearest", "nearest_context", "nearest_beam")


@dataclass(frozen=True, slots=True)
class Recovery:
    """Shares of tokens, texts and sensitive strings; ``excess``: of top1, over the best prior."""

    prompts: int
    top1: Figure
    top5: Figure
    exact: Figure
    sensitive: Figure
    excess: Figure | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """Facts that lengths tell; ``identified``: of a list of all audited messages.

    ``device_ms``: median wait for the next row, which no seed repeats.
    """

    prompts_right: float
    replies_right: float
    identified: float
    by_chance: float
    device_ms: float | None


@dataclass(frozen=True, slots=True)
class ModeFigures:
    """One mode. ``epsilon_message``: every token of a message of median length replaced."""

    studied: Studied
    attacks: dict[str, Recovery]
    accuracy: Figure
    perplexity: Figure
    counts: Counts
    epsilon_token: float | None
    epsilon_message: float | None

    @property
    def name(self) -> str:
        """The mode's."""
        return self.studied.mode.name

    @property
    def verdict(self) -> Verdict | None:
        """The game's, of a mode with a claim."""
        return self.studied.verdict

    @property
    def resends(self) -> Resends:
        """Whether a resend brings anything new."""
        return self.studied.resends

    @property
    def prior(self) -> str:
        """The better guess without rows."""
        return max(PRIORS, key=lambda name: self.attacks[name].top1.value)

    @property
    def strongest(self) -> str:
        """The best attack on one conversation."""
        return max(SINGLE, key=lambda name: self.attacks[name].top1.value)

    @property
    def strongest_of_many(self) -> str | None:
        """The best attack on several conversations with the same message, where there are any."""
        names = [name for name in self.attacks if name.startswith("average_")]
        return max(names, key=lambda name: self.attacks[name].top1.value, default=None)


def figures(studied: Studied, lengths: Sequence[int], seed: int) -> ModeFigures:
    """``lengths``: tokens of the messages. The seed decides the resamples."""
    claim = studied.mode.claim
    used = Bootstrap(len(studied.answers), seed)
    nats = used.ratio(perplexity_pairs(studied.answers))
    return ModeFigures(
        studied,
        _recoveries(studied.tallies, seed),
        used.ratio(accuracy_pairs(studied.answers)),
        Figure(exp(nats.value), exp(nats.low), exp(nats.high)),
        _counts(studied, lengths),
        None if claim is None else claim.epsilon(),
        None if claim is None else claim.epsilon(round(median(lengths))),
    )


def _recoveries(tallies: dict[str, list[Tally]], seed: int) -> dict[str, Recovery]:
    measured = {name: columns(found) for name, found in tallies.items()}
    base = max((measured[name]["top1"] for name in PRIORS), key=lambda pairs: pairs[:, 0].sum())
    recoveries = {}
    for name, pairs in measured.items():
        prompts = len(tallies[name])
        bootstrap = Bootstrap(prompts, seed)
        same = name != "reply_head" and prompts == len(base)
        excess = bootstrap.excess(pairs["top1"], base) if same else None
        recoveries[name] = Recovery(
            prompts, **{key: bootstrap.ratio(value) for key, value in pairs.items()}, excess=excess
        )
    return recoveries


def _counts(studied: Studied, lengths: Sequence[int]) -> Counts:
    seen = [one.prompt for one in studied.lengths]
    replies = [one.tokens for one in studied.tallies["reply_head"]]
    right = [one.reply == count for one, count in zip(studied.lengths, replies, strict=True)]
    waits = [one.device for one in studied.lengths if one.device is not None]
    return Counts(
        sum(a == b for a, b in zip(seen, lengths, strict=True)) / len(seen),
        sum(right) / len(right),
        identified(seen, lengths),
        1 / len(seen),
        1000 * median(waits) if waits else None,
    )
