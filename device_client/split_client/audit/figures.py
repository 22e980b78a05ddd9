"""An audit's figures with confidence intervals, for whoever shows or stores them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from statistics import median

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.lengths import identified
from split_client.audit.bench import Resends, Studied
from split_client.audit.device.answers import accuracy_pairs
from split_client.audit.device.use import Used, divergence_pairs, perplexity_pairs, same_pairs
from split_client.audit.scoring.bootstrap import Bootstrap, Figure
from split_client.audit.scoring.epsilon import Verdict
from split_client.audit.scoring.recovery import Tally, columns

PRIORS = ("prior_frequent", "prior_ngram")
SINGLE = ("nearest", "nearest_context", "ngram", "language")


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
class Use:
    """Against the model's own ``replies`` without noise.

    ``same``: positions with the same likeliest token, ``divergence``: mean KL(clean || mode) in
    nats, ``perplexity``: of the clean replies.
    """

    replies: int
    same: Figure
    divergence: Figure
    perplexity: Figure


@dataclass(frozen=True, slots=True)
class ModeFigures:
    """One mode. ``epsilon_message``: every token of a message of median length replaced.

    ``picked``: texts of conversations with edits that were told from their variants, of which
    there are so many that guessing gives ``picked_by_chance``.
    ``accuracy``: right answers, None for a model that was not trained to give them. What there was
    no time for is None, and ``attacks`` empty.
    """

    studied: Studied
    attacks: dict[str, Recovery]
    picked: Figure | None
    picked_by_chance: float | None
    use: Use | None
    accuracy: Figure | None
    counts: Counts | None
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
    def prior(self) -> str | None:
        """The better guess without rows."""
        return self._best(PRIORS)

    @property
    def strongest(self) -> str | None:
        """The best attack on one conversation."""
        return self._best(SINGLE)

    @property
    def strongest_of_many(self) -> str | None:
        """The best attack on several conversations with the same message, where there are any."""
        return self._best([name for name in self.attacks if name.startswith("average_")])

    @property
    def strongest_of_edits(self) -> str | None:
        """The best attack on one conversation with the message behind several edits."""
        return self._best([name for name in self.attacks if name.startswith("edits_")])

    def _best(self, names: Sequence[str]) -> str | None:
        """Of those that were tried on enough messages to be compared."""
        tried = {name: self.attacks[name].prompts for name in names if name in self.attacks}
        there = [name for name, count in tried.items() if 2 * count >= max(tried.values())]
        return max(there, key=lambda name: self.attacks[name].top1.value, default=None)


def figures(studied: Studied, lengths: Sequence[int], seed: int) -> ModeFigures:
    """``lengths``: tokens of all messages. The seed decides the resamples."""
    claim, answers = studied.mode.claim, studied.answers
    accuracy = Bootstrap(len(answers), seed).share(accuracy_pairs(answers)) if answers else None
    return ModeFigures(
        studied,
        _recoveries(studied.tallies, seed) if studied.messages else {},
        _picked(studied, seed) if studied.picked else None,
        1 / studied.picked[0][1] if studied.picked else None,
        _use(studied.used, seed) if studied.used else None,
        accuracy,
        _counts(studied, lengths) if studied.messages else None,
        None if claim is None else claim.epsilon(),
        None if claim is None else claim.epsilon(round(median(lengths))),
    )


def _picked(studied: Studied, seed: int) -> Figure:
    pairs = np.array(studied.picked, dtype=np.float64)
    return Bootstrap(len(pairs), seed).share(pairs)


def _use(used: Sequence[Used], seed: int) -> Use:
    bootstrap = Bootstrap(len(used), seed)
    nats = bootstrap.ratio(perplexity_pairs(used))
    return Use(
        len(used),
        bootstrap.share(same_pairs(used)),
        bootstrap.ratio(divergence_pairs(used)),
        Figure(exp(nats.value), max(1.0, exp(nats.low)), exp(nats.high)),
    )


def _recoveries(tallies: dict[str, list[Tally]], seed: int) -> dict[str, Recovery]:
    measured = {name: columns(found) for name, found in tallies.items()}
    base = _base([measured[name]["top1"] for name in PRIORS if name in measured])
    recoveries = {}
    for name, pairs in measured.items():
        prompts = len(tallies[name])
        bootstrap = Bootstrap(prompts, seed)
        same = name != "reply_head" and prompts == len(base)
        excess = bootstrap.excess(pairs["top1"], base) if same else None
        recoveries[name] = Recovery(
            prompts, **{key: bootstrap.share(value) for key, value in pairs.items()}, excess=excess
        )
    return recoveries


def _base(priors: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Hits and tokens of the best guess without rows, of those tried on the most messages."""
    most = max(len(pairs) for pairs in priors)
    return max((p for p in priors if len(p) == most), key=lambda pairs: float(pairs[:, 0].sum()))


def _counts(studied: Studied, lengths: Sequence[int]) -> Counts:
    seen = [one.prompt for one in studied.lengths]
    replies = [one.tokens for one in studied.tallies["reply_head"]]
    right = [one.reply == count for one, count in zip(studied.lengths, replies, strict=True)]
    waits = [one.device for one in studied.lengths if one.device is not None]
    return Counts(
        sum(a == b for a, b in zip(seen, lengths, strict=False)) / len(seen),
        sum(right) / len(right),
        identified(seen, lengths),
        1 / len(lengths),
        1000 * median(waits) if waits else None,
    )
