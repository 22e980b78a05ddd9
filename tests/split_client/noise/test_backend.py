"""A conversation with noise travels in one dtype, whatever a server says that it has lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from split_client.errors import AnswerInvalid, ModelChanged
from split_client.generation.sequence import Sequence
from split_client.noise.account import Account
from split_client.noise.backend import OneDtypeBackend
from split_client.noise.conversation import NoisedConversation, bound, never_plain
from split_client.noise.errors import NoiseDtypeChanged
from split_client.noise.ledger import Ledger
from split_client.noise.spent import Kind
from split_client.transport.channel import Channel
from split_client.transport.connect import connector
from split_privacy.mechanism import RowMechanism
from split_wire.codec import decode_client_message
from split_wire.messages import Message, Open, Step
from split_wire.tensor import WireDtype
from tests.split_client.noise.tables import VALUES
from tests.split_client.servers import PeerAnswer, socket_server
from tests.split_wire.peer import LIMIT, WIDTH

MECHANISM = RowMechanism(2.0, 3.0, 6.0, WIDTH)


class Rig:
    """A noised sequence over a real socket to a server that may say what it likes."""

    def __init__(self, folder: Path, peer: PeerAnswer, endpoint: object) -> None:
        self.peer = peer
        account = Account(Ledger(folder / "ledger.json"), "me", "m", Kind.of(MECHANISM), None)
        self.conversation = NoisedConversation(
            MECHANISM, lambda ids: VALUES[ids, :WIDTH], "m", account, folder / "releases", None
        )
        self.channel = Channel(connector(endpoint, None, LIMIT))  # type: ignore[arg-type]
        self.backend = OneDtypeBackend(self.channel, WIDTH, "m", 100)
        rows = bound(self.conversation, lambda: self.backend.dtype)
        self.sequence = Sequence(self.backend, never_plain, rows)

    def lose(self, dtype: WireDtype, manifest: str = "m") -> None:
        """The server forgets every session and opens the next one so."""
        self.peer.peer.sessions.clear()
        self.peer.peer._dtype, self.peer.peer._manifest = dtype, manifest

    def messages(self) -> list[Message]:
        return [decode_client_message(frame, LIMIT) for frame in self.peer.frames]

    @property
    def asked(self) -> list[WireDtype | None]:
        return [m.dtype for m in self.messages() if isinstance(m, Open)]

    def require_one_copy(self) -> None:
        """Every step carried what the first one carried at its place."""
        first, *others = [m for m in self.messages() if isinstance(m, Step)]
        rows = first.embeddings.to_f32()
        for step in others:
            again = step.embeddings.to_f32()
            assert (again == rows[step.start : step.start + len(again)]).all()


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    peer = PeerAnswer()
    with socket_server(peer) as endpoint:
        rig = Rig(tmp_path, peer, endpoint)
        yield rig
        rig.sequence.close()
        rig.channel.close()


def test_a_lost_session_is_opened_in_the_dtype_of_the_first_and_repeats_its_bytes(
    rig: Rig,
) -> None:
    rig.sequence.extend([1, 2, 3])
    rig.lose("f32")
    rig.sequence.extend([1, 2, 3])
    assert rig.asked == [None, "f32"]
    rig.require_one_copy()
    assert rig.conversation.spent.rows == 3


@pytest.mark.parametrize("dtype", ["bf16", "f16", "i8"])
def test_a_server_that_insists_on_another_dtype_gets_no_second_copy(
    rig: Rig, dtype: WireDtype
) -> None:
    rig.sequence.extend([1, 2, 3])
    rig.lose(dtype)
    spent = rig.conversation.spent
    for _ in range(2):
        with pytest.raises(NoiseDtypeChanged, match="start a new conversation") as caught:
            rig.sequence.extend([1, 2, 3])
        assert caught.value.code == "noise_dtype_changed"
    rig.require_one_copy()
    assert rig.conversation.spent == spent


def test_another_answer_that_breaks_the_protocol_keeps_its_own_error(rig: Rig) -> None:
    rig.sequence.extend([1, 2, 3])
    rig.lose("f32", manifest="other")
    with pytest.raises((AnswerInvalid, ModelChanged)):
        rig.sequence.extend([1, 2, 3])
