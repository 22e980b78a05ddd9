"""Which models a server has in memory, and how often they came and went."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Protocol

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

STATES: Final = ("unloaded", "loading", "loaded", "leaving")


class ModelCounts(Protocol):
    """``state``: one of ``STATES``; ``loads`` and ``unloads``: since the start."""

    @property
    def name(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def loads(self) -> int: ...
    @property
    def unloads(self) -> int: ...


def model_families(models: Iterable[ModelCounts]) -> Iterator[Metric]:
    """Of each model by its name, which comes from the server's settings."""
    told = "1 for the state that a model is in, 0 for the others."
    states = GaugeMetricFamily("split_model_state", told, labels=["model", "state"])
    loads = CounterMetricFamily("split_model_loads", "Loads of a model.", labels=["model"])
    told = "Models that were let go."
    unloads = CounterMetricFamily("split_model_unloads", told, labels=["model"])
    for model in models:
        for state in STATES:
            states.add_metric([model.name, state], model.state == state)
        loads.add_metric([model.name], model.loads)
        unloads.add_metric([model.name], model.unloads)
    yield from (states, loads, unloads)
