"""The speed of a pull: the first chunk of the largest file, and whether it arrives unchanged."""

from __future__ import annotations

from hashlib import sha256

import httpx

from split_client.doctor.case import Case
from split_client.doctor.finding import Finding, ok, problem, warning
from split_client.doctor.http import Answer, ask
from split_client.doctor.refusals import refusal
from split_client.errors import ConnectionLost, ServerRefused
from split_client.terminal.output.words import size
from split_client.transport.refusal import read_refusal
from split_client.weights.manifest import FileEntry

_MOST_BYTES = 4 << 20
_MOST_SECONDS = 3.0
_LONG_PULL_SECONDS = 3600.0


def check_throughput(case: Case) -> Finding:
    """A short download of a part of the weights."""
    entry = max(case.model.files, key=lambda file: file.size)
    wanted = min(entry.span(0)[1], _MOST_BYTES)
    try:
        answer = ask(
            case,
            f"/weights/{entry.name}",
            case.token,
            most=wanted,
            seconds=_MOST_SECONDS,
            headers={"Range": f"bytes=0-{wanted - 1}"},
        )
    except httpx.HTTPError as error:
        return refusal("throughput", ConnectionLost(str(error) or type(error).__name__))
    if answer.status not in (httpx.codes.OK, httpx.codes.PARTIAL_CONTENT):
        return _refused(answer, entry)
    if _is_changed(answer.body, entry):
        return problem(
            "throughput",
            "checksum_mismatch",
            f"the first bytes of {entry.name} are not those that the manifest names",
            "something on the way changes data, or the server's files have changed: restart it",
        )
    return _rated(case, len(answer.body), answer.seconds)


def _refused(answer: Answer, entry: FileEntry) -> Finding:
    refused = read_refusal(answer.body, answer.headers.get("Retry-After"))
    text = f"HTTP status {answer.status} for {entry.name}"
    return refusal("throughput", refused or ServerRefused("download_failed", text))


def _is_changed(body: bytes, entry: FileEntry) -> bool:
    """Only a whole chunk can be compared."""
    return len(body) == entry.span(0)[1] and sha256(body).hexdigest() != entry.chunks[0]


def _rated(case: Case, count: int, took: float) -> Finding:
    rate = count / took
    whole = case.model.size / rate
    text = f"{size(count)} at {size(int(rate))}/s"
    facts = {"bytes": count, "bytes_per_s": round(rate)}
    if case.stored:
        return ok("throughput", text, **facts)
    text += f", so the model takes about {max(1, round(whole))} s to fetch"
    if whole > _LONG_PULL_SECONDS:
        return warning(
            "throughput",
            "slow_download",
            text,
            "fetch it in a faster network; a pull that breaks off goes on where it stopped",
            **facts,
        )
    return ok("throughput", text, **facts)
