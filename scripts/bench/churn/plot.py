"""Memory over time as an SVG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scripts.bench.process_memory import MB, Sample


def plot(samples: Sequence[Sample], settled: float, mb_per_minute: float, path: Path) -> bool:
    """Samples and the line fitted from ``settled`` seconds on; False without matplotlib."""
    try:
        import matplotlib as mpl
    except ImportError:
        return False
    mpl.use("svg")
    from matplotlib import pyplot

    minutes = [sample.seconds / 60 for sample in samples]
    late = [sample for sample in samples if sample.seconds >= settled]
    middle = sum(sample.seconds for sample in late) / len(late) / 60
    level = sum(sample.private for sample in late) / len(late) / MB
    ends = (late[0].seconds / 60, late[-1].seconds / 60)
    fitted = [level + mb_per_minute * (end - middle) for end in ends]
    with pyplot.rc_context({"svg.hashsalt": "churn", "svg.fonttype": "none"}):
        figure, axes = pyplot.subplots(figsize=(7.2, 3.6), layout="constrained")
        private = [sample.private / MB for sample in samples]
        axes.plot(minutes, private, color="#2563a8", label="private memory")
        caches = [sample.caches / MB for sample in samples]
        axes.fill_between(minutes, caches, color="#c7d6e8", label="of it K/V buffers")
        label = f"{mb_per_minute:+.2f} MB per minute"
        axes.plot(ends, fitted, color="#d1651a", linestyle="--", label=label)
        axes.set(xlabel="minutes", ylabel="MB", xlim=(0, None), ylim=(0, None))
        axes.grid(axis="y", color="#e4e6ea")
        axes.legend(loc="center right")
        figure.savefig(path, format="svg", metadata={"Date": None})
    return True
