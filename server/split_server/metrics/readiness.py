"""Readiness as a metric, and the exposition of a server that has nothing else to tell yet."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

# The format that every Prometheus since 0.4.0 reads (prometheus.io, exposition formats).
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def readiness_family(*, ready: bool) -> Metric:
    """Whether the server wants new sessions."""
    told = "1 while new sessions are wanted; 0 while it loads, warms up or is about to stop."
    return GaugeMetricFamily("split_ready", told, value=ready)


class _Early(Collector):
    def collect(self) -> Iterator[Metric]:
        yield readiness_family(ready=False)


def early_exposition() -> bytes:
    """The exposition of a server that still loads, in the text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Early())
    ProcessCollector(registry=registry)
    return generate_latest(registry)
