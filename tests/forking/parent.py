"""The process that server processes are forked from: it has imported what takes them seconds.

A request is one message: a JSON list of the command's arguments, with two descriptors: where the
command writes, and where its exit status is told.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import sys

_MOST_BYTES = 1 << 16


def serve_requests(asked: socket.socket) -> int | str | None:
    """Fork for each request until nobody can make one; in a fork, the exit status of its command.

    Only Linux forks safely what has imported torch: there it has started no thread yet.
    """
    # Imported for the forks.
    import split_server.serving.app  # noqa: F401

    gc.freeze()
    # Nobody waits for those that wait for the commands.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        message, descriptors, _, _ = socket.recv_fds(asked, _MOST_BYTES, 2)
        if not message:
            return 0
        output, status = descriptors
        if not os.fork():
            asked.close()
            return _command(json.loads(message), output, status)
        os.close(output)
        os.close(status)


def _command(arguments: list[str], output: int, status: int) -> int | str | None:
    """Run it in a process of its own; this one tells its number, and how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    command = os.fork()
    if command:
        os.close(output)
        os.write(status, f"{command}\n".encode())
        ended = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
        os.write(status, f"{ended}\n".encode())
        os._exit(0)
    os.close(status)
    os.dup2(output, sys.stdout.fileno())
    os.close(output)
    from split_server.cli import main

    return main(arguments)


if __name__ == "__main__":
    sys.exit(serve_requests(socket.socket(fileno=int(sys.argv[1]))))
