"""Replies through faults, compared with Hugging Face ``generate`` and with undisturbed devices."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scripts.bench.fleet.faults.devices import MAX_TOKENS, Device
from scripts.bench.workers import Worker
from split_client.api import SplitClient
from split_server.checkpoint.folder import EMBEDDED


@dataclass(slots=True)
class Verdict:
    """``replies`` were compared, of which ``wrong`` as text; ``twice``: rows with noise that the
    ledger counts beyond those of undisturbed devices, by device.
    """

    replies: int = 0
    tokens: int = 0
    noised: int = 0
    wrong: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)


def judged(
    devices: Sequence[Device], prompts: Sequence[str], url: str, folder: Path, client: SplitClient
) -> Verdict:
    """Compare all that ``devices`` said; ``url``: a replica that nobody disturbs."""
    verdict = Verdict()
    plain = [device for device in devices if not device.noised]
    _as_generate(verdict, plain, prompts, client)
    noised = [device for device in devices if device.noised]
    for device, alone in zip(noised, _undisturbed(noised, prompts, url, folder), strict=True):
        _as_undisturbed(verdict, device, alone)
    for device in devices:
        if device.failure is not None:
            verdict.wrong.append(f"device {device.number} gave up: {device.failure}")
    return verdict


def _as_generate(
    verdict: Verdict, devices: Sequence[Device], prompts: Sequence[str], client: SplitClient
) -> None:
    """Greedy replies are the stock model's."""
    stock = Worker("scripts.bench.peers.generate", str(EMBEDDED), "float32")
    try:
        encode = client.ends.tokenizer.encode
        expected = [
            stock.ask(op="generate", ids=encode(one, add_special_tokens=True), tokens=MAX_TOKENS)
            for one in prompts
        ]
    finally:
        stock.close()
    for device in devices:
        for said in device.said:
            _compare(verdict, device, said.ids, expected[said.prompt]["ids"])


def _undisturbed(
    devices: Sequence[Device], prompts: Sequence[str], url: str, folder: Path
) -> list[Device]:
    """The same devices, with the same keys and the same prompts, where nothing happens to them."""
    always = threading.Event()
    always.set()
    alone = [
        Device(
            device.number,
            url,
            folder,
            prompts,
            carrier=device.carrier,
            noised=True,
            wanted=always,
            replies=len(device.said),
            run="alone",
        )
        for device in devices
    ]
    for device in alone:
        device.start()
    for device in alone:
        device.join()
    return alone


def _as_undisturbed(verdict: Verdict, device: Device, alone: Device) -> None:
    """The same ids, and no row more in the ledger."""
    if alone.failure is not None:
        verdict.wrong.append(f"device {device.number} gave up undisturbed: {alone.failure}")
    for ours, theirs in zip(device.said, alone.said, strict=False):
        verdict.noised += 1
        _compare(verdict, device, ours.ids, theirs.ids)
    spent, once = device.spent(), alone.spent()
    if spent != once:
        verdict.twice.append(
            f"device {device.number}: {spent.rows} rows and {spent.sendings} sendings of a token, "
            f"undisturbed {once.rows} and {once.sendings}"
        )


def _compare(verdict: Verdict, device: Device, ids: list[int], expected: list[int]) -> None:
    verdict.replies += 1
    verdict.tokens += len(ids)
    if ids != expected[: len(ids)] or (len(ids) != len(expected)):
        verdict.wrong.append(f"device {device.number}: {ids} in place of {expected}")
