"""The messages of one mode: sent, recorded, attacked and scored, as time allows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.averaging import distinct
from split_client.audit.attacks.guess import Guess
from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.attacks.lengths import lengths
from split_client.audit.attacks.observed import observe
from split_client.audit.bench import Bench, Studied
from split_client.audit.device.modes import Mode
from split_client.audit.device.rows import audit_key
from split_client.audit.device.unanswered import sent
from split_client.audit.device.victim import Release
from split_client.audit.recording import Recording
from split_client.audit.scoring.recovery import Tally, tally
from split_wire.tensor import WireDtype

# Shares of the messages' time: what is cheap for all of them, what several sendings say.
_LOOKS, _TOGETHER = 0.35, 0.4


def attack_messages(bench: Bench, found: Studied) -> None:
    """First what is cheap for all, then what several sendings say, then what runs models most."""
    seen: list[Release] = []
    with bench.allowance.part(_LOOKS):
        for index in range(len(bench.truths)):
            began = bench.allowance.now()
            first = _ask(bench, found.mode, index, bench.effort.reply_tokens)
            _count(found, _looked_up(bench, found.mode, index, first))
            observed = observe(first.recording.exchanges)
            found.lengths.append(lengths(observed, _frame(bench.model)))
            seen.append(first)
            if index == 0:
                bench.first_message(bench.allowance.now() - began)
    if found.mode.claim is not None and not bench.effort.alone:
        with bench.allowance.part(_TOGETHER):
            for index, first in enumerate(seen):
                bench.allowance.check()
                _count(found, _averaged(bench, found.mode, index, first))
                _edited(bench, found, index, first)
    for index, first in enumerate(seen):
        bench.allowance.check()
        _count(found, _searched(bench, found.mode, index, first))


def _count(found: Studied, tallies: dict[str, Tally]) -> None:
    for name, one in tallies.items():
        found.tallies.setdefault(name, []).append(one)


def _ask(bench: Bench, mode: Mode, index: int, reply: int) -> Release:
    rows = mode.rows.conversation(_prompt_key(bench, mode, index, 0))
    return bench.victim.ask(bench.truths[index].ids, rows, mode.dtype, reply)


def _prompt_key(bench: Bench, mode: Mode, index: int, number: int | str) -> bytes:
    return audit_key(bench.seed, "prompt", mode.name, index, number)


def _looked_up(bench: Bench, mode: Mode, index: int, first: Release) -> dict[str, Tally]:
    exchanges = first.recording.exchanges
    tallies = _judged(bench, index, bench.attacker.looked_up(exchanges, mode.mechanism))
    reply, text = bench.attacker.reply(exchanges), bench.model.text
    return tallies | {"reply_head": tally(reply, first.reply, (), text)}


def _averaged(bench: Bench, mode: Mode, index: int, first: Release) -> dict[str, Tally]:
    """The same prompt in further conversations, each with a key of its own."""
    seen, ids = [first.recording.exchanges], bench.truths[index].ids
    for number in range(1, bench.effort.sessions[-1]):
        rows = mode.rows.conversation(_prompt_key(bench, mode, index, number))
        seen.append(sent(bench.model, [ids], rows, _dtype(first)).exchanges)
    return _judged(bench, index, bench.attacker.averaged(seen, mode.mechanism))


def _edited(bench: Bench, found: Studied, index: int, first: Release) -> None:
    """The message in one conversation in which what stands before it is edited, again and again."""
    mode, model, secret = found.mode, bench.model, bench.truths[index].secret
    texts = [(*variant, *secret, *model.suffix) for variant in model.variants]
    rows = mode.rows.conversation(_prompt_key(bench, mode, index, "edits"))
    recording = sent(model, texts, rows, _dtype(first))
    edited = bench.attacker.edited(recording.exchanges, mode.mechanism)
    _count(found, _judged(bench, index, edited.guesses))
    right = sum(guess == true for true, guess in enumerate(edited.picked))
    found.picked.append((right, len(texts)))


def _dtype(first: Release) -> WireDtype:
    """What the server and the device agreed on."""
    return observe(first.recording.exchanges).dtype


def _searched(bench: Bench, mode: Mode, index: int, first: Release) -> dict[str, Tally]:
    exchanges = first.recording.exchanges
    tallies = _judged(bench, index, bench.attacker.searched(exchanges, mode.mechanism))
    truth, text = bench.truths[index], bench.model.text
    if index < bench.effort.matched:
        matched = bench.attacker.matched(exchanges, mode.mechanism, index)
        secret = truth.secret[matched.position : matched.position + 1]
        tallies["vocabulary"] = tally(matched.guess, secret, (), text)
    return tallies


def _judged(bench: Bench, index: int, guesses: dict[str, Guess]) -> dict[str, Tally]:
    truth, text = bench.truths[index], bench.model.text
    return {
        name: tally(guess, truth.secret, truth.sensitive, text) for name, guess in guesses.items()
    }


def resend(bench: Bench, found: Studied) -> None:
    for index in range(min(bench.effort.resends, len(bench.truths))):
        rows = [_rows(_ask(bench, found.mode, index, 0).recording) for _ in range(2)]
        found.resends.tried += 1
        found.resends.repeated += distinct(rows) == 1


def _rows(recording: Recording) -> NDArray[np.float32]:
    return observe(recording.exchanges).prompt_rows


def _frame(model: PublicModel) -> int:
    return len(model.prefix) + len(model.suffix)
