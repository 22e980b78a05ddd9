"""The audit's figures as lines for people."""

from __future__ import annotations

import math
from collections.abc import Iterator

from split_client.audit.effort import Effort
from split_client.audit.figures import ModeFigures, Recovery
from split_client.audit.scoring.bootstrap import Figure
from split_client.audit.whole import Audited

_ATTACKS = (
    ("prior", "without any row"),
    ("nearest", "nearest row of the table"),
    ("nearest_context", "the same with the model's prior after the recorded rows"),
    ("ngram", "rows and counts of public texts together, over all texts that both leave possible"),
    ("language", "the same with the model's own prior after believed tokens"),
    ("many", "the best of those on several conversations with the message"),
    ("edits", "the best of those on one conversation with the message behind edits"),
    ("vocabulary", "matching of states, one position of some messages"),
    ("reply_head", "tokens of the reply, LM head on returned states"),
)
_ALMOST = 0.995
_HEADS = ("prior", "near", "ctx", "ngram", "model", "many", "edits", "vocab", "reply")


def lines(modes: list[ModeFigures], found: Audited, effort: Effort) -> Iterator[str]:
    """All of it, and what the time did not suffice for."""
    yield from _tokens(modes)
    yield ""
    yield from _strongest(modes)
    yield ""
    if effort.alone:
        yield from _lengths(modes)
        yield from _unfinished(modes, len(found.messages), effort)
        return
    yield from _use(modes)
    games = list(_games(modes))
    if games:
        yield ""
        yield from games
    yield ""
    yield from _lengths(modes)
    yield from _extracted(found)
    yield from _unfinished(modes, len(found.messages), effort)


def _tokens(modes: list[ModeFigures]) -> Iterator[str]:
    yield "Tokens of the message recovered (top 1), by attack:"
    yield _row("mode", "eps/token", *_HEADS)
    for one in modes:
        cells = [_percent(_attack(one, key)) for key, _ in _ATTACKS]
        yield _row(one.name, _epsilon(one.epsilon_token), *cells)
    for head, (_, meaning) in zip(_HEADS, _ATTACKS, strict=True):
        yield f"  {head}: {meaning}"


def _strongest(modes: list[ModeFigures]) -> Iterator[str]:
    yield "At least so much is recovered, by the strongest attack on one conversation, with 95%"
    yield "intervals over messages. Attacks that know more recover more; epsilon alone bounds them:"
    yield f"{'mode':<15}{'tokens':>17}{'excess':>8}{'top 5':>7}{'whole':>7}{'secrets':>9}"
    for one in modes:
        if one.strongest is None:
            yield f"{one.name:<15}{'-':>17}"
            continue
        best = one.attacks[one.strongest]
        excess = "" if best.excess is None else f"{100 * best.excess.value:+.0f}"
        yield (
            f"{one.name:<15}{_interval(best.top1):>17}{excess:>8}{_share(best.top5):>7}"
            f"{_share(best.exact):>7}{_share(best.sensitive):>9}"
        )


def _use(modes: list[ModeFigures]) -> Iterator[str]:
    """Right answers only where the model was trained to know some."""
    known = any(one.accuracy is not None for one in modes)
    yield "Use: the model's own replies without noise, forced along in each mode:"
    head = f"{'mode':<15}{'same likeliest':>17}{'KL, nats':>10}{'perplexity':>12}"
    yield head + (f"{'right answers':>19}" if known else "")
    for one in modes:
        cells = f"{'-':>17}{'-':>10}{'-':>12}"
        if one.use is not None:
            divergence = max(0.0, one.use.divergence.value)
            cells = (
                f"{_interval(one.use.same):>17}{_short(divergence):>10}"
                f"{_short(one.use.perplexity.value):>12}"
            )
        right = "-" if one.accuracy is None else _interval(one.accuracy)
        yield f"{one.name:<15}{cells}" + (f"{right:>19}" if known else "")


def _games(modes: list[ModeFigures]) -> Iterator[str]:
    for one in modes:
        verdict = one.verdict
        if verdict is None:
            continue
        if not any(other.verdict for other in modes[: modes.index(one)]):
            yield "The distinguishing game: what epsilon of one token must be at least:"
        state = "holds" if verdict.holds else "BROKEN: the claim is untrue"
        yield (
            f"{one.name:<15}{_short(verdict.epsilon_bound):>6} for any mechanism,"
            f"{_short(verdict.epsilon_bound_gaussian):>7} for a Gaussian one, claimed "
            f"{_epsilon(verdict.epsilon_claimed):>9}: {state}"
        )


def _lengths(modes: list[ModeFigures]) -> Iterator[str]:
    counts = next((one.counts for one in modes if one.counts is not None), None)
    if counts is not None:
        yield (
            f"Lengths: tokens counted right in {counts.prompts_right:.0%} of messages and "
            f"{counts.replies_right:.0%} of replies; the message picked from a list of all in "
            f"{counts.identified:.0%} (by chance {counts.by_chance:.0%})"
        )
    for one in modes:
        if one.picked is not None and one.picked_by_chance is not None:
            yield (
                f"Edits in {one.name}: which of {round(1 / one.picked_by_chance)} variants a text "
                f"was is told in {_interval(one.picked)} (by chance {one.picked_by_chance:.0%})"
            )
    for one in modes:
        if one.studied.mode.claim is not None and one.resends.tried:
            yield f"Resends in {one.name}: {one.resends.repeated} of {one.resends.tried} repeat"
            break


def _extracted(audited: Audited) -> Iterator[str]:
    found = audited.extraction
    if not audited.queried:
        yield "Adapters: there was no time to query any"
        return
    if found is None:
        yield "Adapters: the server offers none in the clear, so none was extracted"
        return
    yield f"Adapter {found.adapter} (rank {found.rank}): queries and relative error of the copy"
    points = ", ".join(f"{count}: {error:.2g}" for count, error in found.points)
    yield "  " + (points or "the texts of this audit are too short for a query")


def _unfinished(modes: list[ModeFigures], messages: int, effort: Effort) -> Iterator[str]:
    """Modes that were measured on less than was planned, because the time was up."""
    short = []
    for one in modes:
        studied, claim = one.studied, one.studied.mode.claim
        played = 0 if one.verdict is None else one.verdict.releases
        replies = 0 if one.use is None else one.use.replies
        if studied.searched < messages or (claim is not None and played < effort.releases):
            game = "" if claim is None else f", {played} of {effort.releases} releases"
            attacked = f"{studied.messages} of {messages} messages, {studied.searched} by models"
            forced = f"{replies} {'reply' if replies == 1 else 'replies'}"
            short.append(f"{one.name:<15}{attacked}, {forced}{game}")
    if short:
        yield ""
        yield "The time did not suffice for all; the less was measured, the wider the intervals:"
        yield from short


def _attack(one: ModeFigures, key: str) -> Recovery | None:
    if key == "prior":
        return None if one.prior is None else one.attacks[one.prior]
    if key == "many":
        return None if one.strongest_of_many is None else one.attacks[one.strongest_of_many]
    if key == "edits":
        return None if one.strongest_of_edits is None else one.attacks[one.strongest_of_edits]
    return one.attacks.get(key)


def _row(name: str, epsilon: str, *cells: str) -> str:
    return f"{name:<15}{epsilon:>10}" + "".join(f"{cell:>8}" for cell in cells)


def _percent(recovery: Recovery | None) -> str:
    return "-" if recovery is None else _share(recovery.top1)


def _share(figure: Figure) -> str:
    """Whole percents, but nothing short of all is called all."""
    return ">99%" if _ALMOST <= figure.value < 1 else f"{figure.value:.0%}"


def _interval(figure: Figure) -> str:
    return f"{_share(figure)} ({figure.low:.0%}-{figure.high:.0%})"


def _epsilon(value: float | None) -> str:
    if value is None:
        return "none"
    return "infinite" if math.isinf(value) else _short(value)


def _short(value: float) -> str:
    return f"{value:.3g}" if value < 1e4 else f"{value:.0e}"
