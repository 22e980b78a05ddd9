"""A session and steps of the model, with rows that stand for no text."""

from __future__ import annotations

import time

import numpy as np

from split_client.doctor.case import Case
from split_client.doctor.finding import Finding, ok
from split_client.doctor.refusals import refusal
from split_client.errors import ClientError
from split_client.generation.backend import CacheLost
from split_client.terminal.output.words import seconds
from split_client.transport.channel import Channel, Patience
from split_client.transport.connect import connector
from split_client.transport.remote import RemoteBackend
from split_wire.limits import frame_limit

# About the size of a trained model's embedding rows.
_ROW_SCALE = 0.02
# Refusals are told, not waited out.
_ONE_ATTEMPT = 0.0


def check_session(case: Case) -> Finding:
    """Whether the server opens a session for this model and this version of the wire."""
    backend = case.backend = new_backend(case)
    try:
        backend.open()
        case.replica = backend.replica
    except ClientError as error:
        return refusal("session", error)
    return ok(
        "session",
        f"opened, context {backend.max_context}, hidden states in {backend.dtype}",
        max_context=backend.max_context,
        dtype=str(backend.dtype),
    )


def check_step(case: Case) -> Finding:
    """One step from nothing and one on top of it, as a chat's prompt and its first token."""
    backend = case.backend or new_backend(case)
    rows = np.random.default_rng(0).standard_normal((2, 1, case.model.hidden_size))
    rows = (rows * _ROW_SCALE).astype(np.float32)
    try:
        backend.open()
        first = _timed(backend, 0, rows[0])
        later = _timed(backend, 1, rows[1])
    except CacheLost:
        return refusal("step", _SessionGone())
    except ClientError as error:
        return refusal("step", error)
    finally:
        backend.close()
    return ok(
        "step",
        f"{seconds(first[0])} the first, {seconds(later[0])} the next, "
        f"of which the server computes {seconds(later[1])}",
        first_s=round(first[0], 6),
        next_s=round(later[0], 6),
        compute_s=round(later[1], 6),
    )


class _SessionGone(ClientError):
    code = "session_lost"

    def __init__(self) -> None:
        super().__init__("the server lost the session that it had just opened")


def new_backend(case: Case) -> RemoteBackend:
    """A session to open, over a connection of its own in place of the one before."""
    case.close()
    manifest = case.model
    limits = case.limits
    channel = case.channel = Channel(
        connector(case.server, case.token, frame_limit(manifest.hidden_size, 1), case.route),
        case.carrier or case.transport,
        Patience(connect=limits.connect, exchange=limits.step, total=_ONE_ATTEMPT),
    )
    return RemoteBackend(
        channel,
        manifest.hidden_size,
        manifest.digest,
        manifest.max_context,
        busy_patience=_ONE_ATTEMPT,
    )


def _timed(backend: RemoteBackend, start: int, row: np.ndarray) -> tuple[float, float]:
    """Seconds until the answer, and seconds that the server computed."""
    began = time.monotonic()
    output = backend.step(start, row)
    return time.monotonic() - began, output.compute_us / 1e6
