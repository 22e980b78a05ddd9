"""The choice of one token told plainly: lists, one sort, one filter after another."""

from __future__ import annotations

import hashlib
import math
from typing import Any, Final, NamedTuple

# Exponentials differ in their last bits between platforms; no vector may hang on them.
MARGIN: Final = 1e-9


class Chosen(NamedTuple):
    token: int
    probability: float


def chosen(
    logits: list[float],
    params: dict[str, Any],
    prompt: list[int],
    generated: list[int],
    allowed: list[int] | None,
) -> Chosen:
    """The token after ``prompt`` and ``generated``; ``params`` as a case states them."""
    changed = _penalised(logits, params, prompt, generated)
    banned = params.get("banned", [])
    ids = [i for i in range(len(logits)) if i not in banned and (allowed is None or i in allowed)]
    ids.sort(key=lambda i: (-changed[i], i))
    temperature = params.get("temperature", 0)
    if temperature == 0:
        return Chosen(ids[0], 1.0)
    weights = [math.exp((changed[i] - changed[ids[0]]) / temperature) for i in ids]
    weights = _filtered(weights, params)
    total = math.fsum(weights)
    u = _uniform(int(params["seed"]), len(generated))
    sums = [math.fsum(weights[: n + 1]) / total for n in range(len(weights))]
    assert min(abs(each - u) for each in sums) > MARGIN, "a draw hangs on rounding"
    index = next(n for n, each in enumerate(sums) if each > u)
    return Chosen(ids[index], weights[index] / total)


def logprobs(logits: list[float], token: int, count: int) -> dict[str, Any]:
    """Those of ``token`` and of the first ``count`` tokens, by the softmax of ``logits``."""
    total = math.log(math.fsum(math.exp(logit) for logit in logits))
    first = sorted(range(len(logits)), key=lambda i: (-logits[i], i))[:count]
    top = [[i, short(logits[i] - total)] for i in first]
    return {"logprob": short(logits[token] - total), "top": top}


def short(value: float) -> float:
    """As many digits as every platform has the same."""
    return float(f"{value:.12g}")


def _penalised(
    logits: list[float], params: dict[str, Any], prompt: list[int], generated: list[int]
) -> list[float]:
    repetition = params.get("repetition_penalty", 1.0)
    changed = []
    for token, logit in enumerate(logits):
        value = logit + params.get("logit_bias", {}).get(str(token), 0.0)
        if token in prompt or token in generated:
            value = value * repetition if value < 0 else value / repetition
        count = generated.count(token)
        value -= count * params.get("frequency_penalty", 0.0)
        changed.append(value - (params.get("presence_penalty", 0.0) if count else 0.0))
    return changed


def _filtered(weights: list[float], params: dict[str, Any]) -> list[float]:
    kept = weights[: params.get("top_k", 0) or None]
    top_p, min_p = params.get("top_p", 1.0), params.get("min_p", 0.0)
    if top_p < 1:
        before = [math.fsum(kept[:n]) / math.fsum(kept) for n in range(len(kept))]
        assert min(abs(each - top_p) for each in before) > MARGIN, "top-p hangs on rounding"
        kept = [weight for weight, each in zip(kept, before, strict=True) if each < top_p]
    if min_p > 0:
        assert min(abs(weight - min_p) for weight in kept) > MARGIN, "min-p hangs on rounding"
    return [weight for weight in kept if weight >= min_p]


def _uniform(seed: int, index: int) -> float:
    message = seed.to_bytes(8, "little") + index.to_bytes(8, "little")
    return int(hashlib.sha256(message).hexdigest()[:16], 16) // 2**11 / 2**53
