"""A session and a reply told plainly: what both decode loops must give."""

from __future__ import annotations

from typing import Any

from scripts.vectors.decoding.choice import chosen, logprobs, short
from scripts.vectors.decoding.model import BYTES, logits
from scripts.vectors.decoding.text import Streamed


class Session:
    """The tokens that the server holds; ``send`` tells every attempt to send it rows."""

    def __init__(self, max_rows: int, max_context: int, lost: list[int]) -> None:
        self.max_rows, self.max_context, self._lost = max_rows, max_context, lost
        self._cached: list[int] = []
        self._attempts = 0

    def send(self, tokens: list[int]) -> list[list[int]]:
        """[start, count] of every attempt until exactly ``tokens`` are cached."""
        same = 0
        while same < min(len(self._cached), len(tokens)) and self._cached[same] == tokens[same]:
            same += 1
        same, steps = min(same, len(tokens) - 1), []
        while same < len(tokens):
            count = min(self.max_rows, len(tokens) - same)
            steps.append([same, count])
            self._attempts += 1
            same = 0 if self._attempts - 1 in self._lost else same + count
        self._cached = list(tokens)
        return steps


def reply(session: Session, turn: dict[str, Any]) -> dict[str, Any]:
    """Everything that is to be expected of ``turn``."""
    prompt, params = turn["prompt"], turn.get("params", {})
    begun = turn.get("begun", [])
    form, generated = turn.get("constraint"), list(begun)
    told: dict[str, list[Any]] = {
        name: [] for name in ("steps", "rows", "probabilities", "remaining", "logprobs")
    }
    streamed = Streamed(turn.get("stops", []))
    streamed.follow(b"".join(BYTES[token] for token in begun))
    reason = "cancelled" if turn.get("cancelled_at") == 0 else _before(turn)
    while reason is None:
        tokens = prompt + generated
        told["steps"].append(session.send(tokens))
        told["rows"].append(_rows(told["steps"][-1]))
        new = len(generated) - len(begun)
        left = min(turn["max_tokens"] - new, session.max_context + 1 - len(tokens))
        told["remaining"].append(left)
        allowed = dict(enumerate(form["allowed"] if form else [])).get(len(generated))
        token, probability = chosen(logits(tokens), params, prompt, generated, allowed)
        told["probabilities"].append(short(probability))
        told["logprobs"].append(logprobs(logits(tokens), token, turn.get("logprobs", 0)))
        generated.append(token)
        ended = token in turn["end_tokens"]
        streamed.push(b"" if ended else BYTES[token])
        reason = _reason(turn, generated, session.max_context, ended, streamed.stop)
    streamed.push(b"", final=True)
    ids = generated[len(begun) :]
    return {"ids": ids, "reason": reason, **_text(streamed), **_wanted(told, turn)}


def _before(turn: dict[str, Any]) -> str | None:
    """Why nothing follows what is begun."""
    begun, form = turn.get("begun", []), turn.get("constraint")
    if begun and begun[-1] in turn["end_tokens"]:
        return "eos"
    return "stop" if begun and form and len(begun) == form["finished_after"] else None


def _rows(steps: list[list[int]]) -> int:
    """The rows that a token is told to have cost: those from the last loss of the cache on."""
    begins = [n for n in range(len(steps)) if n == 0 or steps[n][0] != sum(steps[n - 1])]
    return sum(count for _, count in steps[begins[-1] :])


def _reason(
    turn: dict[str, Any], generated: list[int], context: int, ended: bool, stop: str | None
) -> str | None:
    """The first reason that holds, in the order in which they count; None: it goes on."""
    form, new = turn.get("constraint"), len(generated) - len(turn.get("begun", []))
    reasons = {
        "eos": ended,
        "stop": stop is not None or (form is not None and len(generated) == form["finished_after"]),
        "length": new == turn["max_tokens"],
        "context": len(turn["prompt"]) + len(generated) > context,
        "cancelled": new == turn.get("cancelled_at"),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _text(streamed: Streamed) -> dict[str, Any]:
    pieces = {} if streamed.broken else {"pieces": streamed.pieces}
    return {"text": "".join(streamed.pieces), **pieces, "stop": streamed.stop}


def _wanted(told: dict[str, list[Any]], turn: dict[str, Any]) -> dict[str, Any]:
    """The parts of ``told`` that this turn asks for; probabilities of greedy choices are 1."""
    wanted: dict[str, Any] = {"steps": told["steps"], "rows": told["rows"]}
    if turn.get("params", {}).get("temperature", 0):
        wanted["probabilities"] = told["probabilities"]
    if "constraint" in turn:
        wanted["remaining"] = told["remaining"]
    if "logprobs" in turn:
        wanted["logprobs_of"] = told["logprobs"]
    return wanted
