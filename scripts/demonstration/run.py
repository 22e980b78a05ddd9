"""Chats with the embedded model: a server of its own, and ``split-client`` in the foreground.

    python -m scripts.demonstration.run                      an interactive chat
    python -m scripts.demonstration.run --once "QUESTION"    prints the answer and exits
    python -m scripts.demonstration.run --model smollm2      with a model of general knowledge

``scripts/demo`` sets up first what this needs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from scripts.demonstration.server import DemoServer, ServerFailed
from scripts.demonstration.smollm2 import ModelFailed, ready

FOLDER = Path(".demo")
_START_SECONDS = 300.0
_CLIENT_ENDS_WITHIN = 10.0


def main(
    arguments: Sequence[str] | None = None, commands: Path = Path(sys.executable).parent
) -> int:
    """Run the demo in the current folder with the ``commands`` of that folder.

    The exit status is the chat's, 1 where the server ended.
    """
    parser = argparse.ArgumentParser(prog="scripts/demo")
    parser.add_argument("--once", metavar="QUESTION", help="print the answer and exit")
    parser.add_argument(
        "--model", choices=("smollm2",), help="in place of the embedded one; 93 MB to download"
    )
    given = parser.parse_args(arguments)
    with _ended_in_order():
        try:
            model = () if given.model is None else ("--model", str(ready(FOLDER, commands, _tell)))
            return _demonstrate(given.once, commands, model)
        except (ServerFailed, ModelFailed) as error:
            _tell(str(error))
            return 1
        except KeyboardInterrupt:
            return 130


def _demonstrate(question: str | None, commands: Path, model: Sequence[str]) -> int:
    began = time.monotonic()
    which = "this model" if model else "the embedded model"
    _tell(f"starting a server with {which}; this takes some seconds")
    command = [str(commands / "split-server"), "serve", "--port", "0", *model]
    server = DemoServer(command, FOLDER / "server.log")
    try:
        url = server.url(_START_SECONDS, lambda waited: _tell(f"still starting after {waited:g} s"))
        _tell(f"the server is ready after {time.monotonic() - began:.0f} s")
        if question is None:
            _tell(f"the same chat in a browser: {url}/")
        return _talk(server, [str(commands / "split-client"), *_asked(url, question)], question)
    finally:
        server.stop()


def _asked(url: str, question: str | None) -> list[str]:
    """The client's arguments."""
    if question is None:
        return ["chat", "--url", url]
    return ["generate", "--url", url, "--chat", "--temperature", "0", "--", question]


def _talk(server: DemoServer, command: Sequence[str], question: str | None) -> int:
    environ = os.environ | {"SPLIT_CLIENT_CACHE": str(FOLDER / "cache")}
    with _interrupts_left_to_the_client():
        # A question is whole; what is piped in belongs to whoever started the demo.
        stdin = None if question is None else subprocess.DEVNULL
        client = subprocess.Popen(command, env=environ, stdin=stdin)
        ending = _Ending(client, stays=question is None and _person_types())
        server.watch(ending)
        try:
            status = client.wait()
        finally:
            _end(client)
    if not ending.silent:
        return 1
    return status if status >= 0 else 128 - status


class _Ending:
    """What happens when the server ends under ``client``: it is told, and nobody waits for ever.

    ``stays``: a person types into the client, and may still keep the chat.
    """

    def __init__(self, client: subprocess.Popen[bytes], *, stays: bool) -> None:
        self._client, self._stays = client, stays
        self._happened = threading.Event()

    @property
    def silent(self) -> bool:
        """Whether the server still runs."""
        return not self._happened.is_set()

    def __call__(self, text: str) -> None:
        self._happened.set()
        sys.stderr.write("\n")
        _tell(text)
        if not self._stays:
            self._client.terminate()
            return
        _tell("/save NAME keeps this chat, Ctrl-D leaves")
        # A line editor draws its prompt again below this.
        self._client.send_signal(signal.SIGWINCH)


def _end(client: subprocess.Popen[bytes]) -> None:
    if client.poll() is not None:
        return
    client.terminate()
    try:
        client.wait(_CLIENT_ENDS_WITHIN)
    except subprocess.TimeoutExpired:
        client.kill()


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """A closed terminal and ``kill`` end the server as well."""

    def leave(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = {one: signal.signal(one, leave) for one in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


@contextmanager
def _interrupts_left_to_the_client() -> Iterator[None]:
    """Ctrl-C reaches both; the client knows what it means. A handler is not inherited by it."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _person_types() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _tell(text: str) -> None:
    lines = f"demo: {text}".split("\n")
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1
        lines = [_broken(line, width) for line in lines]
    sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.flush()


def _broken(line: str, width: int) -> str:
    """The line, broken between words."""
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(line, width, subsequent_indent=indent + "  ", break_on_hyphens=False)


if __name__ == "__main__":
    sys.exit(main())
