"""A disk that fails: a server that is killed while it writes, damaged files, and writes refused.

One real split-server at a time, begun again so that it has to read. Every state is compared with
that of a session for which nothing is looked up; requests that fail, states that differ and bytes
beyond the budget are counted, and there must be none.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import resource
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from scripts.bench import options as common
from scripts.bench.kv_disk.kept import Server, Turn, alike, prompts, serving, wait_until
from scripts.bench.report import counted, finish, heading
from scripts.bench.shapes import random_checkpoint
from scripts.bench.timing import Course, broken_off

# Seconds after the last prompt within which a kill comes: runs are written after two.
_EARLIEST, _LATEST = 1.5, 4.0
_TEXTS = 60
_REFUSED_BYTES = 1000
# Of --seconds: when kills have to be done, and damage.
_KILLS_SHARE, _DAMAGE_SHARE = 0.5, 0.85


class Bench:
    """``done``: what was done to the server; ``bad``: what it answered, and what was wrong."""

    def __init__(self, options: argparse.Namespace, path: Path, folder: Path) -> None:
        self._options, self._path, self._folder = options, path, folder
        self._random = random.Random(5)
        self.bad: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        with self._serving() as server:
            self._texts = prompts(server.served.vocabulary, options.prompt, _TEXTS)
            self._states = [server.turn(text, "off") for text in self._texts]
        self._course = Course.of(options)

    def kills(self) -> None:
        """Kill the server while it writes, again and again."""
        for _ in range(self._options.kills):
            if self._course.over(_KILLS_SHARE):
                return
            with self._serving() as server:
                # Some were written before, some are new to this server.
                for number in self._random.sample(range(_TEXTS), 4):
                    self._ask(server, number)
                time.sleep(self._random.uniform(_EARLIEST, _LATEST))
                os.kill(server.pid, signal.SIGKILL)
            self._did("kills")
            self._weigh()
            for file in self._random.sample(sorted(self._files()), k=min(4, len(self._files()))):
                # So that there is something to write again.
                file.unlink()

    def damage(self) -> None:
        """Damage files under a running server, and ask for what they held."""
        while self.done["damaged files"] < self._options.damaged:
            # One that has just begun has nothing in memory, and its end writes all again.
            with self._serving() as server:
                files = self._files()
                wait_until(partial(_knows, server, len(files)))
                for file in files:
                    damage(file, self._random)
                self._did("damaged files", len(files))
                self._ask_all(server, _DAMAGE_SHARE)
            self._weigh()
            if self._course.over(_DAMAGE_SHARE):
                return

    def refuse(self) -> None:
        """Have every write of the server fail for a while."""
        with self._serving() as server:
            _, most = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (_REFUSED_BYTES, most))
            for file in self._files():
                file.unlink()
            self._ask_all(server)
            name = 'split_kv_disk_failures_total{kind="write"}'
            wait_until(lambda: server.metric(name) > 0)
            self._ask_all(server)
            resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (most, most))
            wait_until(lambda: bool(self._files()))
            self._did("refusals")
            self._weigh()

    def _did(self, what: str, count: int = 1) -> None:
        self.done[what] += count
        self._tell()

    def _tell(self) -> None:
        self._course.tell(counted([*sorted(self.done.items()), *sorted(self.bad.items())]))

    def _ask_all(self, server: Server, share: float = 1.0) -> None:
        """Ask for every text, for some at least."""
        for number in range(_TEXTS):
            if number > 4 and self._course.over(share):
                return
            self._ask(server, number)

    @contextlib.contextmanager
    def _serving(self, *more: str) -> Iterator[Server]:
        budget = ("--kv-disk-bytes", str(self._options.budget))
        with serving(self._path, self._folder, self._options.dtype, *budget, *more) as server:
            yield server

    def _ask(self, server: Server, number: int) -> None:
        try:
            turn: Turn = server.turn(self._texts[number], asks=bool(self._random.randrange(2)))
        except Exception as error:  # noqa: BLE001 - whatever it is, the request failed
            self.bad[f"failed: {type(error).__name__}"] += 1
            return
        self.bad["asked"] += 1
        self._tell()
        self.bad["restored"] += turn.restored > 0
        if not alike(turn, self._states[number], self._options.dtype):
            self.bad["wrong states"] += 1

    def _files(self) -> list[Path]:
        return [*(self._folder / "kv").glob("*.kv")]

    def _weigh(self) -> None:
        """All files, those that are being written included, are within the budget."""
        held = 0
        for file in (self._folder / "kv").iterdir():
            with contextlib.suppress(FileNotFoundError):
                held += file.stat().st_size if file.name != "lock" else 0
        self.bad["beyond the budget"] += held > self._options.budget


def _knows(server: Server, files: int) -> bool:
    return server.files() >= files


def damage(file: Path, random_: random.Random) -> None:
    """Flip a bit of ``file``, cut it, add to it, or put another one in its place."""
    with contextlib.suppress(FileNotFoundError):
        data = bytearray(file.read_bytes())
        at = random_.randrange(len(data))
        match random_.randrange(4):
            case 0:
                data[at] ^= 1 << random_.randrange(8)
            case 1:
                del data[at:]
            case 2:
                data += random_.randbytes(1 + at % 64)
            case _:
                others = [other for other in file.parent.glob("*.kv") if other != file]
                data = bytearray(random_.choice(others or [file]).read_bytes())[:-1] + data[-1:]
        file.write_bytes(data)


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        path = random_checkpoint(options.shape, folder, options.dtype)
        bench = Bench(options, path, folder / "hostile")
        with broken_off():
            bench.kills()
            bench.damage()
            bench.refuse()
    print(heading(f"A disk that fails, shape {options.shape}", options.dtype))
    print(
        f"{counted(sorted(bench.done.items()))} of {options.kills:,} kills and "
        f"{options.damaged:,} damaged files, then refused writes."
    )
    print(counted(sorted(bench.bad.items())), "\n")
    harmless = ("asked", "restored")
    finish([f"{what}: {n}" for what, n in bench.bad.items() if n and what not in harmless])


def _options() -> argparse.Namespace:
    parser = common.parser(__doc__.splitlines()[0], ("float32", "bfloat16"))
    parser.set_defaults(shape="s", dtype="float32")
    parser.add_argument("--prompt", type=int, default=300)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--damaged", type=int, default=10_000)
    parser.add_argument("--budget", type=int, default=64 << 20)
    Course.add_option(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
