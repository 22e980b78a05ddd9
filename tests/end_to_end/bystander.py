"""A session that generates greedily while something else happens to its server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import torch
from websockets.sync.client import ClientConnection

from split_wire.client import ClientProtocol, SessionOpened, StepCompleted
from tests import oracle
from tests.patience import PATIENCE
from tests.server_process import RunningServer

PROMPT = [5, 17, 40, 9, 101, 33, 8, 250, 77, 12, 64, 3]
COUNT = 24


class Bystander(threading.Thread):
    """Generates the same reply again and again in one session, each time from position 0."""

    def __init__(self, server: RunningServer, path: Path, headers: dict[str, str]) -> None:
        super().__init__(name="bystander", daemon=True)
        self._server, self._path, self._headers = server, path, headers
        self._ending = threading.Event()
        self.in_the_middle = threading.Event()
        self.failure: BaseException | None = None
        self.replies: list[list[int]] = []

    def run(self) -> None:
        try:
            with self._server.socket(additional_headers=self._headers) as websocket:
                protocol = self._open(websocket)
                while not self._ending.is_set():
                    self.replies.append(self._reply(websocket, protocol))
                websocket.send(protocol.close() or b"")
                _received(websocket)
        except BaseException as failure:  # noqa: BLE001 - the test's own thread raises it
            self.failure = failure
        finally:
            self.in_the_middle.set()

    def end(self) -> None:
        """Finish the reply under way."""
        self._ending.set()
        self.join(PATIENCE)
        assert not self.is_alive(), "the other session hangs"
        if self.failure is not None:
            raise self.failure

    def _open(self, websocket: ClientConnection) -> ClientProtocol:
        info = self._server.parts.steps.info
        protocol = ClientProtocol(info.hidden_size, self._server.manifest)
        websocket.send(protocol.open())
        event = protocol.receive(_received(websocket))
        assert isinstance(event, SessionOpened), event
        return protocol

    def _reply(self, websocket: ClientConnection, protocol: ClientProtocol) -> list[int]:
        ids, start = list(PROMPT), 0
        while len(ids) < len(PROMPT) + COUNT:
            websocket.send(protocol.step(start, oracle.embeddings(self._path, ids[start:]).numpy()))
            event = protocol.receive(_received(websocket))
            assert isinstance(event, StepCompleted), event
            start = len(ids)
            ids.append(self._pick(event))
            if start > len(PROMPT):
                self.in_the_middle.set()
        return ids[len(PROMPT) :]

    def _pick(self, event: StepCompleted) -> int:
        hidden = torch.from_numpy(event.hidden.copy())
        return int(oracle.head(self._path, hidden)[0].argmax())


def _received(websocket: ClientConnection) -> bytes:
    message = websocket.recv(timeout=PATIENCE)
    assert isinstance(message, bytes)
    return message


@contextmanager
def undisturbed(server: RunningServer, path: Path, **headers: str) -> Iterator[Bystander]:
    """Another session is in the middle of a reply when the body begins, goes on until the body has
    ended, and must have produced exactly the tokens of `generate`, every time.
    """
    expected = oracle.greedy(path, PROMPT, COUNT)
    assert len(expected) == COUNT
    bystander = Bystander(server, path, headers)
    bystander.start()
    try:
        assert bystander.in_the_middle.wait(PATIENCE)
        yield bystander
    except BaseException:
        with suppress(BaseException):
            bystander.end()
        raise
    bystander.end()
    assert bystander.replies
    assert all(reply == expected for reply in bystander.replies)
