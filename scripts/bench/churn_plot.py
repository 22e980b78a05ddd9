"""Memory over time as an SVG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench.churn_memory import MB, Sample


def plot(samples: Sequence[Sample], settled: float, mb_per_minute: float, path: Path) -> bool:
    """Samples and the line fitted from ``settled`` seconds on; False without matplotlib."""
    try:
        import matplotlib as mpl
    except ImportError:
        return False
    mpl.use("svg")
    from matplotlib import pyplot

    minutes = [sample.seconds / 60 for sample in samples]
    figure, axes = pyplot.subplots(figsize=(7, 3))
    axes.plot(minutes, [sample.private / MB for sample in samples], label="private memory")
    late = [sample for sample in samples if sample.seconds >= settled]
    middle = sum(sample.seconds for sample in late) / len(late) / 60
    level = sum(sample.private for sample in late) / len(late) / MB
    ends = (late[0].seconds / 60, late[-1].seconds / 60)
    fitted = [level + mb_per_minute * (end - middle) for end in ends]
    axes.plot(ends, fitted, label=f"{mb_per_minute:+.2f} MB per minute")
    axes.set(xlabel="minutes", ylabel="MB", ylim=(0, None))
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(path, format="svg", metadata={"Date": None})
    return True
