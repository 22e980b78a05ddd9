"""The exposition of one server: a registry of its own, read when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import PurePath
from typing import Any

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from split_server.compat.generator import Generator
from split_server.metrics.answers import AnswerMeter
from split_server.metrics.families import (
    answer_families,
    audit_families,
    build_family,
    connection_families,
    generation_families,
    hidden_families,
    load_families,
    memory_families,
    reuse_families,
    splice_families,
    step_families,
    time_families,
    vital_families,
)
from split_server.metrics.histogram import DIFFERENCES, Histogram
from split_server.metrics.load import Load
from split_server.metrics.models import ModelCounts, model_families
from split_server.metrics.readiness import readiness_family
from split_server.metrics.steps import StepMeter
from split_server.sessions.keeping.approximate import MEASURES
from split_server.sessions.step import StepAdmission

_DISTRIBUTION = "gatelink"


@dataclass(frozen=True, slots=True)
class Sources:
    """Where gauges are read; ``memory`` and ``generator`` are None where there is none.

    ``reserved``: share of the caches' bytes that is set aside; ``most_sessions``: that there may
    be; ``ready``: whether new ones are wanted. ``models``: all that the server has; None where the
    exposition is one model's alone, without what belongs to the process.
    """

    steps: StepAdmission
    sockets: Callable[[], int]
    reserved: Callable[[], float]
    most_sessions: int
    ready: Callable[[], bool]
    memory: Callable[[], dict[str, Any]] | None = None
    generator: Generator | None = None
    models: Callable[[], Iterable[ModelCounts]] | None = None


class Metrics(Collector):
    """``steps`` and ``answers`` are written by the engine and the access log."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self.steps = StepMeter(sources.steps.info.interactive_rows)
        self.answers = AnswerMeter()
        store = sources.steps.store
        shares = (sources.reserved, lambda: len(store) / sources.most_sessions)
        self.load = Load(self.steps.waits, shares)
        self.audits = {measure: Histogram(DIFFERENCES) for measure in MEASURES}
        if sources.steps.splicing is not None:
            sources.steps.splicing.audit.told = lambda what, value: self.audits[what].observe(value)
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)
        if sources.models is not None:
            ProcessCollector(registry=self._registry)

    def collect(self) -> Iterator[Metric]:
        """Every family with its value at the moment."""
        sources = self._sources
        info = sources.steps.info
        # A folder's name at most, whatever the model was named by.
        model = PurePath(info.name).name
        yield build_family(_version(), model, info.family, info.dtype)
        yield from step_families(self.steps)
        yield from vital_families(sources.steps.vitals)
        yield from time_families(self.steps)
        if sources.models is not None:
            yield readiness_family(ready=sources.ready())
            yield from model_families(sources.models())
        yield from load_families(self.load.value())
        yield from connection_families(len(sources.steps.store), sources.sockets())
        seeing = sources.steps.seeing
        yield from hidden_families(seeing.hidden, seeing.cold_bytes)
        if sources.models is not None:
            yield from answer_families(self.answers)
        if sources.steps.reuse is not None:
            yield from reuse_families(sources.steps.reuse, self.steps.rows)
            yield from splice_families(sources.steps.splicing)
            yield from audit_families(self.audits)
        if sources.memory is not None:
            yield from memory_families(sources.memory())
        if sources.generator is not None:
            yield from generation_families(sources.generator)

    def text(self) -> bytes:
        """The exposition in the text format; call it on the event loop."""
        return generate_latest(self._registry)


def _version() -> str:
    try:
        return version(_DISTRIBUTION)
    except PackageNotFoundError:
        return "unknown"
