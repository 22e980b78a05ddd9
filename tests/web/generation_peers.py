"""Python's sampler over given logits, and JavaScript's rooms asked through node."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from split_client.generation.head.candidates import Interval
from split_client.generation.head.head import TopLogits
from split_client.generation.head.ranking import rank_all
from split_client.generation.head.rows import WeightRows
from tests.web.browsing import node

_WEB = Path(__file__).parents[2] / "web"


def ask(tool: str, request: Any) -> Any:
    """What ``web/test/tools/TOOL`` answers to ``request``, both as JSON."""
    command = [node(), f"test/tools/{tool}"]
    done = subprocess.run(
        command, input=json.dumps(request), capture_output=True, text=True, cwd=_WEB, timeout=240
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def as_base64(array: NDArray[Any]) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")


def floats(text: str) -> NDArray[np.float32]:
    return np.frombuffer(base64.b64decode(text), "<f4")


class EchoHead:
    """A head whose logits are the hidden state itself; the peer of web/test's EchoHead.

    ``slack``: how far, relatively, the bounds of the rest are from it; None: there are none.
    """

    def __init__(self, rows: int, slack: float | None) -> None:
        self.rows = WeightRows(np.zeros((rows, 1), np.float32), "f32", Path("echo"))
        self.screened = slack is not None
        self._slack = slack

    def top(self, hidden: NDArray[np.float32], k: int, also: ArrayLike = ()) -> TopLogits:
        ids, logits = self._ranked(hidden, also)
        return TopLogits(ids[:k], logits[:k], hidden[self.rows.check_ids(also)])

    def top_and_rest(
        self, hidden: NDArray[np.float32], k: int, temperature: float, also: ArrayLike = ()
    ) -> tuple[TopLogits, Interval] | None:
        also_ids = self.rows.check_ids(also)
        if self._slack is None or k >= self.rows.rows - also_ids.size:
            return None
        _, logits = self._ranked(hidden, also)
        wide = logits.astype(np.float64)
        rest = float(np.exp((wide[k:] - wide[0]) / temperature).sum())
        bounds = Interval(rest * (1 - self._slack), rest * (1 + self._slack) + 2.0**-110)
        return self.top(hidden, k, also), bounds

    def logits(self, hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        return hidden.copy()

    def _ranked(
        self, hidden: NDArray[np.float32], also: ArrayLike
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        ids, logits = rank_all(hidden, hidden.size)
        outside = ~np.isin(ids, self.rows.check_ids(also))
        return ids[outside], logits[outside]
