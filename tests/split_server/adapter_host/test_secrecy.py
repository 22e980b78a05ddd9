"""Neither the host's processes nor their log ever hold a hidden state, a secret key or a product.

A host in a process of its own answers a device; afterwards every writable byte of its process tree
is searched for what only the device may know.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
import pytest
from numpy.typing import NDArray

from split_client.crypto.hosted import HostedAdapters
from split_client.generation.sequence import Sequence
from split_he.bits import pack
from split_he.modular import residues

_COMMAND = [sys.executable, "-c", "import sys; from split_server.cli import main; sys.exit(main())"]
_HIDDEN = 192
_NEEDLE = 24


@dataclass(frozen=True)
class _Model:
    hidden_size: int = _HIDDEN


@contextmanager
def _hosting(log: Path) -> Iterator[tuple[int, str]]:
    """The process id and the address of ``split-server adapters``."""
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [*_COMMAND, "adapters", "--port", "0", "--log-level", "debug", "--workers", "1"],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if found := re.match(r"listening on (\S+)", line):
                yield process.pid, found[1]
                break
    finally:
        process.terminate()
        process.communicate(timeout=60)
    assert process.returncode == 0


def _memory(pid: int) -> Iterator[bytes]:
    """Every readable, writable region of a process and of its children, as a core dump has it."""
    parent = psutil.Process(pid)
    for process in [parent, *parent.children(recursive=True)]:
        regions = Path(f"/proc/{process.pid}/maps").read_text().splitlines()
        with Path(f"/proc/{process.pid}/mem").open("rb", buffering=0) as memory:
            for region in regions:
                span, rights, *_ = region.split()
                if not rights.startswith("rw"):
                    continue
                begin, end = (int(part, 16) for part in span.split("-"))
                memory.seek(begin)
                yield memory.read(end - begin)


def _pieces(array: NDArray[np.generic]) -> set[bytes]:
    """Runs of the array's bytes at a third and two thirds of it, never of zeros alone."""
    data = array.tobytes()
    places = (len(data) // 3 // 8 * 8, len(data) // 3 * 2 // 8 * 8)
    runs = {data[place : place + _NEEDLE] for place in places}
    return {run for run in runs if len(set(run)) > 3}


def _found(pid: int, needles: dict[str, set[bytes]]) -> set[str]:
    found = set()
    for region in _memory(pid):
        found |= {name for name, runs in needles.items() if any(run in region for run in runs)}
    return found


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="reads /proc")
def test_memory_and_log_of_the_host_hold_nothing_of_the_device(tmp_path: Path) -> None:
    log = tmp_path / "host.log"
    hidden = np.random.default_rng(5).normal(size=_HIDDEN).astype(np.float32)
    with _hosting(log) as (pid, url):
        adapters = HostedAdapters(url, None, _Model())
        sequence = Sequence(None, lambda _: hidden)  # type: ignore[arg-type]
        adapters.use("banking", sequence)
        assert sequence.correct is not None
        corrected = sequence.correct(hidden)
        session = sequence.correct._session  # type: ignore[attr-defined]
        assert session is not None
        secret = session._keys._secret
        needles = {
            "float32 state": _pieces(hidden),
            "float64 state": _pieces(hidden.astype(np.float64)),
            "corrected state": _pieces(corrected),
            "product": _pieces(session.product(hidden)),
            "fixed-point state": _pieces(
                np.rint(hidden.astype(np.float64) * session.plan.input_scale).astype(np.int64)
            ),
            "secret key": _pieces(secret),
            "secret key as residues": _pieces(residues(secret)),
            "secret key as packed": _pieces(np.frombuffer(pack(residues(secret)[None]), np.uint8)),
        }
        assert all(needles.values())
        # The search finds what is there: the public key, which the host keeps.
        public = _pieces(np.frombuffer(session._keys.public, np.uint8))
        assert _found(pid, needles | {"public key": public}) == {"public key"}
        adapters.close()
    text = log.read_bytes() + log.read_text(errors="replace").encode()
    assert b"POST /api/v1/adapters/banking/evaluate 200" in text
    assert not [name for name, runs in needles.items() if any(run in text for run in runs)]
    assert session._id.hex().encode() not in text
    assert not re.search(rb"\[[-0-9.e, ]{40,}\]", text)
