"""Forks of a client and of a process that charges: ``forks ahead|kills LEDGER``.

A program of its own, because a process with threads must not fork. ``ahead`` prints the rows that
parent and child sent, ``kills`` the charges that thirty killed processes told of.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from split_client.noise.ledger import Ledger
from split_client.noise.spent import Count
from tests.split_client.noise.clients import KIND, Client


def ahead(path: Path) -> None:
    client = Client(path)
    client.say(11)
    client.reply(1)
    child = os.fork()
    begun = client.sent
    client.reply(64 if child else 63)
    client.account.close()
    if child:
        assert os.waitpid(child, 0)[1] == 0
        print(client.sent, 63)
    else:
        assert client.sent - begun == 63


def kills(path: Path) -> None:
    told = 0
    for number in range(30):
        read, write = os.pipe()
        child = os.fork()
        if not child:
            ledger = Ledger(path)
            while True:
                ledger.charge("me", "m", KIND, Count(1, 1))
                os.write(write, b".")
        os.close(write)
        with os.fdopen(read, "rb") as source:
            told += len(source.read(1 + number % 3))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            told += len(source.read())
    print(told)


if __name__ == "__main__":
    {"ahead": ahead, "kills": kills}[sys.argv[1]](Path(sys.argv[2]))
