"""Write what is needed of a speech recognizer's language model as text: ``corpora/en-us.arpa``.

Needs the package pocketsphinx. Its own writer ends the process behind the second order, so it runs
in one of its own; the trigrams that are frequent enough are asked for one by one.
"""

from __future__ import annotations

import importlib
import math
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_BINARY = "debian/usr/share/pocketsphinx/model/en-us/en-us.lm.bin"
_BASE = 1.0001
_WRITE = (
    "import sys, pocketsphinx as p; "
    f"b = p.LogMath({_BASE}, 0, False); m = p.NGramModel(p.Config(), b, sys.argv[1]); "
    "m.write(sys.argv[2], p.NGramModel.str_to_type('arpa'))"
)
# Logarithms to base 10: of a pair, of a word behind another, of all three.
_PAIR, _NEXT, _TRIPLE = -6.5, -2.8, -7.6
_ORDER = 2
Pairs = dict[tuple[str, ...], float]


def main(corpora: Path) -> None:
    """Both orders as they are written, then trigrams."""
    sphinx: Any = importlib.import_module("pocketsphinx")

    binary, text = str(corpora / _BINARY), corpora / "en-us.arpa"
    subprocess.run([sys.executable, "-c", _WRITE, binary, str(text)], check=False)
    lines = text.read_text(encoding="utf-8", errors="replace").splitlines()[:-1]
    # The model does not keep its base alive.
    base = sphinx.LogMath(_BASE, 0, False)
    model = sphinx.NGramModel(sphinx.Config(), base, binary)
    with text.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
        file.write("\n\\3-grams:\n")
        file.writelines(_triples(model, *_orders(lines)))


def _orders(lines: list[str]) -> tuple[Pairs, Pairs]:
    """Logarithms of words and of pairs."""
    single: Pairs = {}
    double: Pairs = {}
    for line in lines:
        parts = line.split("\t")
        if len(parts) == _ORDER + 1:
            single[parts[1],] = float(parts[0])
        elif len(parts) == _ORDER + 2:
            double[parts[1], parts[2]] = float(parts[0])
    return single, double


def _triples(model: Any, single: Pairs, double: Pairs) -> Iterator[str]:
    behind: dict[str, list[str]] = defaultdict(list)
    for (first, second), log in double.items():
        if log > _NEXT:
            behind[first].append(second)
    scale = math.log10(_BASE)
    for (first, second), log in double.items():
        whole = log + single[("</s>" if first == "<s>" else first,)]
        for third in behind[second] if whole > _PAIR else ():
            found = model.prob([third, second, first]) * scale
            if whole + found > _TRIPLE:
                yield f"{found:.4f}\t{first}\t{second}\t{third}\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
