"""Conversations of the device under attack, over the product's own transport, sequence and loop."""

from __future__ import annotations

from dataclasses import dataclass

from split_client.audit.allowance import Allowance
from split_client.audit.device.rows import Rows
from split_client.audit.reach import Reach
from split_client.audit.recording import Recorder, Recording
from split_client.generation.loop import Limits, TokenEvent, decode
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.sampler import Sampler
from split_client.generation.sequence import Sequence
from split_client.model.ends import DeviceEnds
from split_client.noise.conversation import never_plain
from split_client.transport.channel import Channel
from split_client.transport.remote import RemoteBackend
from split_wire.limits import frame_limit
from split_wire.tensor import WireDtype


@dataclass(frozen=True, slots=True)
class Release:
    """A recorded conversation, and the reply's tokens, which only the device knows."""

    recording: Recording
    reply: tuple[int, ...]


class Victim:
    """A device that talks to ``server`` and has its frames recorded."""

    def __init__(self, ends: DeviceEnds, server: Reach, allowance: Allowance | None = None) -> None:
        self._ends, self._allowance = ends, allowance or Allowance()
        self._recorder = Recorder()
        connect = server.connect(frame_limit(ends.manifest.hidden_size, 1))
        self._channel = Channel(self._recorder.wrap(connect), server.mode)

    def ask(
        self, ids: tuple[int, ...], rows: Rows, dtype: WireDtype | None, reply_tokens: int
    ) -> Release:
        """Send a prompt in a session of its own; a greedy reply of at most ``reply_tokens``.

        Raises TimeUp beyond the allowance.
        """
        self._allowance.check()
        recording = self._recorder.start()
        sequence = self._sequence(rows, dtype)
        try:
            reply = self._reply(sequence, ids, reply_tokens)
        finally:
            sequence.close()
        return Release(recording, reply)

    def close(self) -> None:
        """Close the connection."""
        self._channel.close()

    def _sequence(self, rows: Rows, dtype: WireDtype | None) -> Sequence:
        manifest = self._ends.manifest
        backend = RemoteBackend(
            self._channel, manifest.hidden_size, manifest.digest, manifest.max_context, dtype
        )
        return Sequence(
            backend,
            never_plain,
            lambda tokens, start, stop: rows.rows(tokens, start, stop, backend.dtype),
        )

    def _reply(self, sequence: Sequence, ids: tuple[int, ...], count: int) -> tuple[int, ...]:
        if count == 0:
            sequence.extend(list(ids))
            return ()
        sampler = Sampler(self._ends.head, SamplingParams(temperature=0.0))
        limits = Limits(self._ends.manifest.eos_token_ids, count)
        events = decode(sequence, sampler, self._ends.tokenizer, list(ids), limits)
        tokens = []
        for event in events:
            if isinstance(event, TokenEvent):
                tokens.append(event.token)
                self._allowance.check()
        return tuple(tokens)
