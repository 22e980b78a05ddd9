"""What a stranger learns of somebody else's prompts: by their digests, and by the clock.

One real split-server with tokens of a victim and a stranger. The stranger knows the victim's rows,
so his digests are right: he asks for them, with his own salts and the victim's too, and nothing may
be restored. Then he sends prompts that the victim has just sent and prompts that nobody has, and
the area under the curve (AUC) says how well the time to the first token tells them apart: 0.5 is
guessing. The same probe of his own prompts has to tell, or the measure would be blind.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import numpy as np

from scripts.bench.report import finish, spread, table
from scripts.bench.reuse.devices import Device, Oracle, Prompts
from scripts.bench.reuse.pages import Page, model_flags, parsed, parser, rounds
from scripts.bench.shapes import served_checkpoint
from scripts.listening import listening
from split_client.transport.channel import Channel
from split_client.transport.connect import connector
from split_client.transport.endpoint import Endpoint
from split_wire.client import ClientProtocol, SessionRestored
from split_wire.digest import PrefixChain
from split_wire.limits import frame_limit
from split_wire.messages import DEFAULT_MAX_ROWS
from split_wire.tensor import Tensor

_VICTIM, _STRANGER = "bench-token-of-a-victim", "bench-token-of-a-stranger"
_BLOCK = 16
_PROBES_OF_A_SESSION = 200
_SALTS = (None, "of the stranger", "of the victim")
_QUICK = {"probes": 40, "probe": 256, "digests": 10_000}


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        path = served_checkpoint(options.shape, folder, options.dtype)
        own = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        page = Page(f"A stranger's probes, shape {options.shape}", options.dtype)
        url = stack.enter_context(_server(path, own, options))
        devices = [
            stack.enter_context(Device(url, own / str(number), token))
            for number, token in enumerate((_VICTIM, _STRANGER))
        ]
        bench = Bench(url, devices[0], devices[1], options)
        bench.check(path)
        asked, restored = bench.digests()
        foreign, mine = bench.clock(devices[0]), bench.clock(devices[1])
    page.add(f"{restored} of {asked:,} foreign digests had anything restored.")
    page.add(
        table(
            ["known to", "known", "not known", "AUC", "probes"],
            [_line("the victim alone", foreign), _line("the stranger himself", mine)],
        )
    )
    page.end(options.out)
    finish(_problems(restored, auc(*foreign), auc(*mine), strict=not options.quick))


class Bench:
    """The stranger's attempts."""

    def __init__(
        self, url: str, victim: Device, stranger: Device, options: argparse.Namespace
    ) -> None:
        self._url, self._victim, self._stranger = url, victim, stranger
        self._options, self._random = options, random.Random(1)
        self._prompts = Prompts(victim.vocabulary, seed=23)

    def check(self, path: Path) -> None:
        """Tokens of both, before and after the victim's prompt is kept, are the model's."""
        oracle = Oracle(path, self._options.dtype)
        prompt = self._prompts.new(self._options.probe)
        try:
            for device in (self._victim, self._victim, self._stranger):
                oracle.require(prompt, device.once(prompt, 4).ids, "a prompt that is known")
        finally:
            oracle.close()

    def digests(self) -> tuple[int, int]:
        """How many digests the stranger asked for, and how many positions were restored."""
        prompt = self._prompts.new(self._options.probe)
        for salt in (None, _SALTS[-1]):
            self._victim.once(prompt, salt=salt)
        if not self._victim.once(prompt).restored:
            raise SystemExit("the victim's own prompt was not kept")
        rows, asked, restored = self._stranger.rows(prompt), 0, 0
        for salt in itertools.cycle(_SALTS):
            with Asking(self._url, self._stranger, salt) as asking:
                for _ in range(_PROBES_OF_A_SESSION):
                    if asked >= self._options.digests:
                        return asked, restored
                    end = self._random.randrange(_BLOCK, len(prompt) + 1)
                    restored += asking.restored(rows[:end])
                    asked += -(-end // _BLOCK)
        raise AssertionError("unreachable")

    def clock(self, knows: Device) -> tuple[list[float], list[float]]:
        """Times of the stranger's probes of prompts that ``knows`` has just sent, and of others."""
        known: list[float] = []
        absent: list[float] = []
        for _ in rounds(self._options.probes, self._options.seconds / 2, least=20):
            prompts = {True: self._prompts.new(self._options.probe)}
            prompts[False] = self._prompts.new(self._options.probe)
            knows.once(prompts[True])
            # What comes first finds the server as the victim's prompt has left it.
            for one in self._random.sample([True, False], 2):
                (known if one else absent).append(self._stranger.once(prompts[one]).ms)
        return known, absent


class Asking:
    """A session of the stranger that asks for what it never sent."""

    def __init__(self, url: str, device: Device, salt: str | None) -> None:
        limit = frame_limit(device.width, DEFAULT_MAX_ROWS)
        self._channel = Channel(connector(Endpoint.parse(url), _STRANGER, limit))
        self._protocol = ClientProtocol(device.width, device.manifest, None, salt)
        self._answered(self._protocol.open())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.close()

    def restored(self, rows: np.ndarray) -> int:
        """Positions that the server took in of ``rows`` [n, H]."""
        opened = self._protocol.opened
        assert opened is not None
        chain: PrefixChain = self._protocol.new_chain()
        chain.replace(0, chain.following(0, Tensor.from_f32(rows, opened.dtype)))
        event = self._answered(self._protocol.restore(0, chain))
        assert isinstance(event, SessionRestored)
        return event.cached

    def _answered(self, frame: bytes) -> object:
        return self._protocol.receive(self._channel.exchange(frame))


def auc(known: Sequence[float], absent: Sequence[float]) -> float:
    """The probability that a probe of what is known takes less time than one of what is not."""
    order = np.searchsorted(np.sort(absent), known, side="right")
    ties = order - np.searchsorted(np.sort(absent), known, side="left")
    return float(np.mean(len(absent) - order + ties / 2) / len(absent))


def _line(name: str, times: tuple[list[float], list[float]]) -> list[str]:
    known, absent = times
    cells = [spread(known, "ms", 1), spread(absent, "ms", 1)]
    return [name, *cells, f"{auc(known, absent):.3f}", f"{len(known)} and {len(absent)}"]


def _problems(restored: int, foreign: float, mine: float, *, strict: bool) -> list[str]:
    """``strict``: there are enough probes for the bar of guessing, which few miss by chance."""
    found = [] if restored == 0 else [f"{restored} positions were restored by foreign digests"]
    if strict and abs(foreign - 0.5) > 0.05:
        found.append(f"a foreign prefix is told from an absent one: AUC {foreign:.3f}")
    if mine < 0.95:
        found.append(f"one's own prefix is not told from an absent one: AUC {mine:.3f}")
    return found


@contextlib.contextmanager
def _server(path: Path, folder: Path, options: argparse.Namespace) -> Iterator[str]:
    tokens = folder / "tokens"
    tokens.write_text(f"victim {_VICTIM}\nstranger {_STRANGER}\n")
    tokens.chmod(0o600)
    model = (*model_flags(path, options), "--kv-reuse", "exact")
    with listening("serve", *model, "--token-file", str(tokens)) as (url, _):
        yield url


def _options() -> argparse.Namespace:
    made = parser(__doc__.splitlines()[0], seconds=200)
    made.set_defaults(shape="s", dtype="float32")
    made.add_argument("--probes", type=int, default=500, help="of each kind")
    made.add_argument("--probe", type=int, default=512, help="tokens of a probe")
    made.add_argument("--digests", type=int, default=100_000)
    return parsed(made, _QUICK)


if __name__ == "__main__":
    main()
