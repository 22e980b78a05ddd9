"""Grammars for replies of this server, out of forms by strangers.

What a form costs cannot be told from it, so that every one is compiled and followed in a process
of its own, with limits that the system enforces. Nothing of it is in the server's process.
"""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from split_client.generation.constraint import Constraint
from split_client.grammar.errors import FormTooCostly, GrammarInvalid
from split_client.grammar.form import Form, JsonSchema, checked_form, document_of
from split_client.grammar.json import rules_of
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

    Nothing is started before a form comes.
    """

    def __init__(self, words: Words, limits: GrammarLimits | None = None) -> None:
        self._limits = limits or GrammarLimits()
        self._rows = words.rows
        self.process = GrammarProcess(words, self._limits)
        self._threads = Threads("grammars", _THREADS)
        self._checks = GrammarChecks(self._verdict, self._limits)

    async def maker(self, principal: str, form: Form) -> MakeConstraint:
        """What makes the state of each reply, on a thread that may block.

        Raises GrammarInvalid for a form that cannot be enforced or costs too much, Overloaded.
        """
        text = await self._threads.run(lambda: _text(form))
        if not self.process.running:
            await self._threads.run(self.process.start)
        await self._checks.check(principal, text)
        return lambda: RemoteConstraint(self.process.open(), text, self._rows, self._limits)

    def close(self) -> None:
        """End its processes; nothing is waited for."""
        self._checks.close()
        self._threads.close()
        self.process.close()

    async def _verdict(self, form: str) -> Verdict:
        """Why ``form`` is refused, None if it will do. Raises Overloaded."""
        with self.process.open() as source:
            source.setblocking(False)
            try:
                async with asyncio.timeout(self._limits.compile_seconds + _MARGIN_SECONDS):
                    return await self._compiled(source, form)
            except TimeoutError:
                raise Overloaded("the grammars' process is busy") from None

    async def _compiled(self, source: socket.socket, form: str) -> Verdict:
        loop = asyncio.get_running_loop()
        # Before the process counts its seconds: whoever is late must not take the clock's end for
        # the form's fault, which is remembered.
        began = time.monotonic()
        try:
            await loop.sock_sendall(source, asking(form, reply=False))
            await _read(source)
        except (OSError, Torn):
            raise Overloaded("the system gives a grammar no process") from None
        try:
            answer = document(await _read(source))
        except (OSError, Torn):
            # Ended for its processor time or memory; by the clock alone, the machine is to blame.
            if time.monotonic() - began >= self._limits.compile_seconds:
                raise Overloaded("the server is too busy to compile this form") from None
            return FormTooCostly.code, TOO_COSTLY
        if "refused" not in answer:
            return None
        return str(answer.get("code", GrammarInvalid.code)), str(answer["refused"])


def _text(form: Form) -> str:
    """``form`` as JSON. Raises GrammarInvalid; for a long schema only its process does so."""
    text = json.dumps(document_of(checked_form(form)))
    if isinstance(form, JsonSchema) and len(text) <= _SHORT:
        rules_of(form.schema)
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
