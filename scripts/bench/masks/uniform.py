"""Is a masked state uniform modulo Q, whatever the state is?

    python -m scripts.bench.masks.uniform [--states 20000]

Chi-square tests over 1,024 bins each of what the host is sent, h - r, as the device makes it with
the random numbers of the system: of the leading bits, of the trailing bits, and of neighbours in
one state (32 x 32 bins). ``limit``: what a uniform number exceeds once in a million tests.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from scripts.bench.report import finish, heading, table
from split_he.device import rounded
from split_he.keys import DeviceKeys
from split_he.layout import Packing
from split_he.modular import Residues
from split_he.params import Q
from split_he.scales import choose
from split_masks.device import Hiding, Mask
from split_masks.numbers import unpack

HIDDEN, RANK = 896, 16
BINS = 1024
_SIDE = 32
_SHARE = 1e-6
_State = Callable[[np.random.Generator, Packing], NDArray[np.float64]]


def _longest(_: np.random.Generator, plan: Packing) -> NDArray[np.float64]:
    return np.full(HIDDEN, 0.999 * plan.norm_bound / HIDDEN**0.5)


STATES: dict[str, _State] = {
    "zeros": lambda *_: np.zeros(HIDDEN),
    "as long as may be": _longest,
    "normal, rms 2": lambda draw, _: draw.normal(0, 2, HIDDEN),
}


def masked_numbers(kind: str, states: int) -> Residues:
    """What the host is sent of ``states`` states, one after the other, flat."""
    draw = np.random.default_rng(0)
    plan = choose(draw.normal(0, 0.02, (RANK, HIDDEN)).astype(np.float32))
    keys = DeviceKeys.generate(os.urandom(32), os.urandom(32))
    share = np.zeros(RANK, dtype=np.int64)
    sent = np.empty((states, HIDDEN), dtype=np.uint64)
    for row in sent:
        state = rounded(STATES[kind](draw, plan).astype(np.float32), plan)
        mask = Mask(0, Hiding.draw(keys, plan).r, share, plan)
        row[:] = unpack(mask.masked(state), HIDDEN)
    return sent.reshape(-1)


def chi_square(values: Residues) -> dict[str, float]:
    """The statistics of 1,023 degrees of freedom, by name."""
    leading = (values / Q * BINS).astype(np.int64)
    pairs = (values[: len(values) // 2 * 2].reshape(-1, 2) / Q * _SIDE).astype(np.int64)
    return {
        "leading bits": _statistic(leading),
        "trailing bits": _statistic((values % np.uint64(BINS)).astype(np.int64)),
        "neighbours": _statistic(pairs[:, 0] * _SIDE + pairs[:, 1]),
    }


def limit(share: float) -> float:
    """What the statistic exceeds with probability ``share`` (Wilson and Hilferty 1931)."""
    freedom = BINS - 1
    part = 2 / (9 * freedom)
    return float(freedom * (1 - part + NormalDist().inv_cdf(1 - share) * part**0.5) ** 3)


def _statistic(bins: NDArray[np.int64]) -> float:
    counts = np.bincount(bins, minlength=BINS)
    expected = len(bins) / BINS
    return float(((counts - expected) ** 2 / expected).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--states", type=int, default=20_000)
    options = parser.parse_args()
    print(heading("Masked states", f"hidden {HIDDEN}"))
    rows, problems, most = [], [], limit(_SHARE)
    for kind in STATES:
        found = chi_square(masked_numbers(kind, options.states))
        rows.append([kind, *(f"{value:.0f}" for value in found.values()), f"{most:.0f}"])
        problems += [f"{kind}: {name}" for name, value in found.items() if value > most]
    print(f"{options.states * HIDDEN:,} numbers each, 1,023 degrees of freedom.\n")
    print(table(["state", "leading bits", "trailing bits", "neighbours", "limit"], rows))
    finish(problems)


if __name__ == "__main__":
    main()
