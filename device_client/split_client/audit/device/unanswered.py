"""Conversations of which only what travels up is recorded, with no server behind them.

The rows of a prompt do not depend on any answer, so the bytes are those that a server would see.
"""

from __future__ import annotations

from collections.abc import Sequence as Texts

from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.device.rows import Rows
from split_client.audit.device.stand_in import StandIn
from split_client.audit.recording import Recorder, Recording
from split_client.generation.sequence import Sequence
from split_client.noise.conversation import never_plain
from split_client.transport.channel import Channel
from split_client.transport.remote import RemoteBackend
from split_wire.tensor import WireDtype


def sent(
    model: PublicModel, texts: Texts[tuple[int, ...]], rows: Rows, dtype: WireDtype
) -> Recording:
    """One conversation in which each of ``texts`` takes the place of the one before, as edits do.

    ``dtype``: what the server that is audited agreed to.
    """
    recorder = Recorder()
    recording = recorder.start()
    connect = recorder.wrap(lambda _kind, _timeout: StandIn(model.hidden, dtype))
    backend = RemoteBackend(
        Channel(connect, "websocket"), model.hidden, model.digest, max(map(len, texts)), dtype
    )
    sequence = Sequence(
        backend,
        never_plain,
        lambda tokens, start, stop: rows.rows(tokens, start, stop, backend.dtype),
    )
    for text in texts:
        sequence.extend(list(text))
    sequence.close()
    return recording
