"""The process that grammars are copies of: it holds the vocabulary, and forks one for each socket.

Standard input brings ``{"tokenizer", "rows", "eos", "limits"}``; the socket ``--fd`` then tells
that it is ready, and carries the sockets of those who want a grammar. It ends with that socket.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import signal
import socket
import sys
from collections.abc import Sequence

from split_client.grammar.vocabulary import Vocabulary
from split_server.compat.grammars.allowance import deepen_stack
from split_server.compat.grammars.child import attend
from split_server.compat.grammars.limits import GrammarLimits
from split_server.compat.grammars.messages import Torn, packed

_MAX_REASON = 300


def serve(control: socket.socket, vocabulary: Vocabulary, limits: GrammarLimits) -> None:
    """Fork a child for each socket that comes, until the stream ends."""
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not data:
            return
        for descriptor in descriptors:
            with socket.socket(fileno=descriptor) as source:
                _fork(control, source, vocabulary, limits)


def _fork(
    control: socket.socket, source: socket.socket, vocabulary: Vocabulary, limits: GrammarLimits
) -> None:
    try:
        child = os.fork()
    except OSError:
        # Whoever waits at the socket sees it closed before it said anything.
        return
    if child:
        return
    status = 1
    try:
        control.close()
        attend(source, vocabulary, limits)
        status = 0
    except (Torn, OSError, MemoryError):
        pass
    finally:
        # Nothing of the parent's may be flushed or ended a second time.
        os._exit(status)


def _ready(control: socket.socket) -> tuple[Vocabulary, GrammarLimits] | None:
    """The vocabulary and the limits that standard input brings; None when it cannot be read."""
    asked = json.load(sys.stdin.buffer)
    try:
        vocabulary = Vocabulary(asked["tokenizer"], asked["rows"], frozenset(asked["eos"]))
    except ValueError as error:
        control.sendall(packed({"failed": str(error)[:_MAX_REASON]}))
        return None
    control.sendall(packed({"ready": True}))
    return vocabulary, GrammarLimits(**asked["limits"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until the server closes its end; the status is 0 then."""
    parser = argparse.ArgumentParser(prog="grammar-worker")
    parser.add_argument("--fd", type=int, required=True)
    options = parser.parse_args(arguments)
    # The server ends in order, and this process with it, whoever else is told to end.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    # Children are nobody's to wait for.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    deepen_stack()
    with socket.socket(fileno=options.fd) as control:
        found = _ready(control)
        if found is None:
            return 1
        # What children share stays shared: a collection would write to every object.
        gc.collect()
        gc.freeze()
        try:
            serve(control, *found)
        except OSError:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
