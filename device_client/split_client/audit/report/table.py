"""The audit's figures as lines for people."""

from __future__ import annotations

import math
from collections.abc import Iterator

from split_client.audit.figures import ModeFigures, Recovery
from split_client.audit.scoring.bootstrap import Figure
from split_client.audit.whole import Extraction

_ATTACKS = (
    ("prior", "without any row"),
    ("nearest", "nearest row of the table"),
    ("nearest_context", "the same with the model's prior after the recorded rows"),
    ("nearest_beam", "the same with the prior after believed tokens, by beam"),
    ("many", "the best of those on several conversations"),
    ("vocabulary", "matching of states, one position of some messages"),
    ("reply_head", "tokens of the reply, LM head on returned states"),
)
_ALMOST = 0.995
_HEADS = ("prior", "near", "ctx", "beam", "many", "vocab", "reply")


def lines(modes: list[ModeFigures], extraction: Extraction | None) -> Iterator[str]:
    """All of it."""
    yield from _tokens(modes)
    yield ""
    yield from _strongest(modes)
    games = list(_games(modes))
    if games:
        yield ""
        yield from games
    yield ""
    yield from _lengths(modes)
    yield from _extracted(extraction)


def _tokens(modes: list[ModeFigures]) -> Iterator[str]:
    yield "Tokens of the message recovered (top 1), by attack:"
    yield _row("mode", "eps/token", *_HEADS)
    for one in modes:
        cells = [_percent(_attack(one, key)) for key, _ in _ATTACKS]
        yield _row(one.name, _epsilon(one.epsilon_token), *cells)
    for head, (_, meaning) in zip(_HEADS, _ATTACKS, strict=True):
        yield f"  {head}: {meaning}"


def _strongest(modes: list[ModeFigures]) -> Iterator[str]:
    yield "The strongest attack on one conversation, 95% intervals over prompts, beside the use:"
    yield (
        f"{'mode':<15}{'tokens':>17}{'excess':>8}{'top 5':>7}{'whole':>7}{'secrets':>9}"
        f"{'right answers':>19}{'perplexity':>12}"
    )
    for one in modes:
        best = one.attacks[one.strongest]
        excess = "" if best.excess is None else f"{100 * best.excess.value:+.0f}"
        yield (
            f"{one.name:<15}{_interval(best.top1):>17}{excess:>8}{_share(best.top5):>7}"
            f"{_share(best.exact):>7}{_share(best.sensitive):>9}"
            f"{_interval(one.accuracy):>19}{_short(one.perplexity.value):>12}"
        )


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
    counts = modes[0].counts
    yield (
        f"Lengths: tokens counted right in {counts.prompts_right:.0%} of messages and "
        f"{counts.replies_right:.0%} of replies; the message picked from a list of all in "
        f"{counts.identified:.0%} (by chance {counts.by_chance:.0%})"
    )
    for one in modes:
        if one.verdict is not None:
            yield f"Resends in {one.name}: {one.resends.repeated} of {one.resends.tried} repeat"
            break


def _extracted(found: Extraction | None) -> Iterator[str]:
    if found is None:
        yield "Adapters: the server offers none in the clear, so none was extracted"
        return
    yield f"Adapter {found.adapter} (rank {found.rank}): queries and relative error of the copy"
    points = ", ".join(f"{count}: {error:.2g}" for count, error in found.points)
    yield "  " + (points or "the texts of this audit are too short for a query")


def _attack(one: ModeFigures, key: str) -> Recovery | None:
    if key == "prior":
        return one.attacks[one.prior]
    if key == "many":
        return None if one.strongest_of_many is None else one.attacks[one.strongest_of_many]
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
