"""The document of ``--json``: what the seed repeats, and apart from it what it cannot."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from split_client.audit.effort import Effort
from split_client.audit.figures import ModeFigures, Use
from split_client.audit.scoring.bootstrap import Figure
from split_client.audit.whole import Audited, Extraction

VERSION = 3
_DIGITS = 6
# A server slices prefills by its load, and float32 sums then differ in their last digits.
_STEADY_DIGITS = 3


def document(
    model: str,
    seed: int,
    effort: Effort,
    modes: list[ModeFigures],
    found: Audited,
) -> dict[str, Any]:
    """``model``: digest of the manifest. What there was no time for is null.

    Under ``timing`` stands what differs between runs."""
    return {
        "version": VERSION,
        "model": model,
        "seed": seed,
        "effort": dataclasses.asdict(effort),
        "holds": all(one.verdict is None or one.verdict.holds for one in modes),
        "modes": [_mode(one) for one in modes],
        "adapter_extraction": None if found.extraction is None else _extraction(found.extraction),
        "timing": {
            one.name: {"device_ms": one.counts.device_ms} for one in modes if one.counts is not None
        },
    }


def _mode(one: ModeFigures) -> dict[str, Any]:
    mode, counts, verdict = one.studied.mode, one.counts, one.verdict
    return {
        "name": mode.name,
        "kind": mode.kind,
        "dtype": mode.dtype,
        "sigma": _number(mode.mechanism.sigma),
        "clip": _number(mode.mechanism.clip),
        "epsilon_token": _number(one.epsilon_token),
        "epsilon_message": _number(one.epsilon_message),
        "prior": one.prior,
        "strongest": one.strongest,
        "strongest_of_many": one.strongest_of_many,
        "strongest_of_edits": one.strongest_of_edits,
        "variant_picked": None if one.picked is None else _figure(one.picked),
        "variant_by_chance": _number(one.picked_by_chance),
        "attacks": {name: _figures(recovery) for name, recovery in one.attacks.items()},
        "messages": one.studied.messages,
        "use": None if one.use is None else _use(one.use),
        "accuracy": None if one.accuracy is None else _figure(one.accuracy),
        "resends": dataclasses.asdict(one.resends),
        "lengths": None
        if counts is None
        else {
            "prompts_right": counts.prompts_right,
            "replies_right": counts.replies_right,
            "identified": _number(counts.identified),
            "by_chance": _number(counts.by_chance),
        },
        "game": None
        if verdict is None
        else {
            **{key: _number(value) for key, value in dataclasses.asdict(verdict).items()},
            "epsilon_bound_gaussian": _number(verdict.epsilon_bound_gaussian),
            "holds": verdict.holds,
        },
    }


def _use(use: Use) -> dict[str, Any]:
    return {
        "replies": use.replies,
        "same": _figure(use.same, _STEADY_DIGITS),
        "divergence": _figure(use.divergence, _STEADY_DIGITS),
        "perplexity": _figure(use.perplexity, _STEADY_DIGITS),
    }


def _figures(of: Any) -> dict[str, Any]:
    return {
        field.name: _figure(value) if isinstance(value, Figure) else value
        for field in dataclasses.fields(of)
        for value in [getattr(of, field.name)]
    }


def _figure(figure: Figure, digits: int = _DIGITS) -> list[float | None]:
    """Value, lower and upper end."""
    return [_number(end, digits) for end in (figure.value, figure.low, figure.high)]


def _extraction(found: Extraction) -> dict[str, Any]:
    points = [[count, _number(error, _STEADY_DIGITS)] for count, error in found.points]
    return {"adapter": found.adapter, "rank": found.rank, "queries_and_error": points}


def _number(value: float | None, digits: int = _DIGITS) -> float | None:
    """JSON has no infinity: what no number bounds is null."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")
