"""Grammars for replies of this server, out of schemas by strangers.

What a schema costs cannot be told from it, so that every one is compiled and followed in a process
of its own, with limits that the system enforces. Nothing of it is in the server's process.
"""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from split_client.generation.constraint import Constraint
from split_client.grammar.json import GrammarInvalid, rules_of
from split_client.grammar.schema import MAX_SCHEMA_BYTES
from split_server.compat.grammars.checks import GrammarChecks, Verdict
from split_server.compat.grammars.limits import GrammarLimits
from split_server.compat.grammars.messages import LENGTH, Torn, asking, document, length_of
from split_server.compat.grammars.process import GrammarProcess, Words
from split_server.compat.grammars.remote import TOO_COSTLY, RemoteConstraint
from split_server.threads import Threads
from split_wire.errors import Overloaded

# Checked in milliseconds, so that most refusals need no process.
_SHORT = 4096
# One may wait for the process to start while the other reads schemas.
_THREADS = 2
# Beyond the time after which a copy ends itself.
_MARGIN_SECONDS = 0.5

MakeConstraint = Callable[[], AbstractContextManager[Constraint]]


class Grammars:
    """The grammars of one model's vocabulary. Lives on the event loop; :meth:`close` it when done.

    Nothing is started before a schema comes.
    """

    def __init__(self, words: Words, limits: GrammarLimits | None = None) -> None:
        self._limits = limits or GrammarLimits()
        self._rows = words.rows
        self.process = GrammarProcess(words, self._limits)
        self._threads = Threads("grammars", _THREADS)
        self._checks = GrammarChecks(self._verdict, self._limits)

    async def maker(self, principal: str, schema: dict[str, Any] | None) -> MakeConstraint:
        """What makes the state of each reply, on a thread that may block; None: any JSON object.

        Raises GrammarInvalid for a schema that cannot be enforced or costs too much, Overloaded.
        """
        text = await self._threads.run(lambda: _text(schema))
        if not self.process.running:
            await self._threads.run(self.process.start)
        await self._checks.check(principal, text)
        return lambda: RemoteConstraint(self.process.open(), text, self._rows, self._limits)

    def close(self) -> None:
        """End its processes; nothing is waited for."""
        self._checks.close()
        self._threads.close()
        self.process.close()

    async def _verdict(self, schema: str) -> Verdict:
        """Why ``schema`` is refused, None if it will do. Raises Overloaded."""
        with self.process.open() as source:
            source.setblocking(False)
            try:
                async with asyncio.timeout(self._limits.compile_seconds + _MARGIN_SECONDS):
                    return await self._compiled(source, schema)
            except TimeoutError:
                raise Overloaded("the grammars' process is busy") from None

    async def _compiled(self, source: socket.socket, schema: str) -> Verdict:
        loop = asyncio.get_running_loop()
        try:
            await loop.sock_sendall(source, asking(schema, reply=False))
            await _read(source)
        except (OSError, Torn):
            raise Overloaded("the system gives a grammar no process") from None
        began = time.monotonic()
        try:
            answer = document(await _read(source))
        except (OSError, Torn):
            # Ended for its processor time or memory; by the clock alone, the machine is to blame.
            if time.monotonic() - began >= self._limits.compile_seconds:
                raise Overloaded("the server is too busy to compile this schema") from None
            return TOO_COSTLY
        return str(answer["refused"]) if "refused" in answer else None


def _text(schema: dict[str, Any] | None) -> str:
    """``schema`` as JSON. Raises GrammarInvalid; for a long one only its process does so."""
    try:
        text = json.dumps(schema)
    except (TypeError, ValueError, RecursionError):
        raise GrammarInvalid("it is not JSON") from None
    if len(text) > MAX_SCHEMA_BYTES:
        raise GrammarInvalid(f"it has {len(text)} bytes, more than {MAX_SCHEMA_BYTES}")
    if len(text) <= _SHORT:
        rules_of(schema)
    return text


async def _read(source: socket.socket) -> bytes:
    """The next body. Raises Torn, also at the end of the stream, OSError."""
    return await _exactly(source, length_of(await _exactly(source, LENGTH.size)))


async def _exactly(source: socket.socket, count: int) -> bytes:
    loop, data = asyncio.get_running_loop(), bytearray()
    while len(data) < count:
        piece = await loop.sock_recv(source, count - len(data))
        if not piece:
            raise Torn
        data += piece
    return bytes(data)
