"""The meters' counts, in the families that Prometheus knows.

Names follow Prometheus' practices: base units, ``_total`` for counters. Labels come from this file,
from error classes and from HTTP's status codes, never from a client.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from split_server.compat.generator import Generator
from split_server.engine.vitals import Vitals
from split_server.kv.kept_runs import EVICTIONS, STATES
from split_server.kv.lineage import WAYS
from split_server.kv_disk.counts import FAILURES, REMOVALS, Counts
from split_server.metrics.answers import AnswerMeter
from split_server.metrics.histogram import Histogram
from split_server.metrics.steps import StepMeter
from split_server.sessions.admission.splicing import KINDS, Splicing
from split_server.sessions.admission.splicing import OUTCOMES as EDITS
from split_server.sessions.audit import OUTCOMES
from split_server.sessions.keeping.approximate import OUTCOMES as AUDITED
from split_server.sessions.keeping.approximate import Measure
from split_server.sessions.reuse import Reuse
from split_wire.tiers import TIERS


def step_families(meter: StepMeter) -> Iterator[Metric]:
    """Of steps, by kind."""
    kinds = {"prefill": meter.prefill, "decode": meter.decode}
    steps = _counter("split_steps", "Steps that ended.", "kind", "outcome")
    rows = _counter("split_rows", "Rows that passes took.", "kind")
    tokens = _counter("split_tokens", "Positions that answered steps added to a cache.", "kind")
    times = HistogramMetricFamily(
        "split_step_seconds", "Time of an answered step in a part.", labels=["kind", "part"]
    )
    for name, kind in kinds.items():
        for outcome in ("answered", "failed", "abandoned"):
            steps.add_metric([name, outcome], getattr(kind, outcome))
        rows.add_metric([name], kind.rows)
        tokens.add_metric([name], kind.tokens)
        for part in ("queue", "compute"):
            _add(times, [name, part], getattr(kind, part))
    yield from (steps, rows, tokens, times)
    yield _gauge("split_queue_steps", "Steps that wait or are under way.", meter.queued)
    attention = _counter("split_attention_bytes", "Bytes of attention rows in answers.")
    attention.add_metric([], meter.attention_bytes)
    yield attention


def vital_families(vitals: Vitals) -> Iterator[Metric]:
    """Of the model's thread."""
    yield _gauge("split_model_serving", "0 once a fault has stopped the model.", not vitals.stopped)
    faults = _counter("split_model_faults", "Faults that ended the work of the model's thread.")
    faults.add_metric([], vitals.faults)
    yield faults


def time_families(meter: StepMeter) -> Iterator[Metric]:
    """Of turns as the server sees them, and of passes."""
    yield _histogram(
        "split_time_to_first_token_seconds",
        "From the arrival of a turn's first step to the hidden states of its first token.",
        meter.turns.first_token,
    )
    yield _histogram(
        "split_time_per_token_seconds",
        "Between the answers to two steps of one reply, device and network included.",
        meter.turns.per_token,
    )
    yield _histogram("split_pass_seconds", "Time of a pass of the model.", meter.pass_seconds)
    yield _histogram("split_pass_sessions", "Sessions in a pass.", meter.pass_sessions)


def answer_families(meter: AnswerMeter) -> Iterator[Metric]:
    """Of answers and errors."""
    answers = _counter("split_http_answers", "Requests and WebSockets by HTTP status.", "status")
    for status, count in sorted(meter.statuses.items()):
        answers.add_metric([str(status)], count)
    errors = _counter("split_errors", "Errors that clients were told.", "form", "code")
    for (form, code), count in sorted(meter.errors.items()):
        errors.add_metric([form, code], count)
    yield from (answers, errors)


def memory_families(report: Mapping[str, Any]) -> Iterator[Metric]:
    """Of the document behind ``/api/v1/memory``."""
    limit, caches = report["limit"], report["caches"]
    cache = GaugeMetricFamily(
        "split_cache_bytes", "Bytes of KV caches: budget, set aside, idle.", labels=["state"]
    )
    for state in ("budget", "reserved", "idle"):
        cache.add_metric([state], caches[state])
    yield cache
    yield _gauge("split_memory_free_bytes", "Bytes that the process may still take.", limit["free"])
    yield _gauge("split_memory_kept_free_bytes", "Bytes kept free of it.", limit["kept_free"])
    yield _gauge(
        "split_memory_private_bytes",
        "Resident bytes of this process alone.",
        report["held"]["private"],
    )
    refusals = _counter("split_memory_refusals", "Steps that the memory plan refused.")
    refusals.add_metric([], report["refused"])
    failures = _counter("split_memory_failures", "Passes that ran out of memory all the same.")
    failures.add_metric([], report["failed"])
    yield from (refusals, failures)


def reuse_families(reuse: Reuse, computed: int) -> Iterator[Metric]:
    """Of what is kept for later sessions; ``computed``: rows that passes took."""
    told = "Positions of caches by where they came from."
    positions = _counter("split_kv_positions", told, "source")
    positions.add_metric(["computed"], computed)
    positions.add_metric(["pool_asked"], reuse.taken["asked"])
    positions.add_metric(["pool_sent"], reuse.taken["sent"])
    positions.add_metric(["waited"], reuse.taken["waited"])
    positions.add_metric(["disk"], reuse.taken["disk"])
    for source in ("spliced", "documents"):
        positions.add_metric([source], reuse.taken[source])
    evicted = _counter("split_kv_evicted", "Kept runs that were dropped.", "reason")
    for reason in EVICTIONS:
        evicted.add_metric([reason], reuse.pool.evicted[reason])
    audits = _counter("split_kv_audit", "Kept prefixes that were computed again.", "outcome")
    for outcome in OUTCOMES:
        audits.add_metric([outcome], 0 if reuse.audit is None else reuse.audit.counts[outcome])
    counts = Counts() if reuse.disk is None else reuse.disk.counts
    for reason in REMOVALS:
        evicted.add_metric([f"disk_{reason}"], counts.removed[reason])
    yield from (positions, evicted, audits)
    yield from _exactness(reuse)
    yield _gauge(
        "split_kv_pinned_bytes", "Bytes of kept runs that are pinned.", reuse.pool.pinned_by()
    )
    yield from _shared(reuse)
    yield from _tiers(reuse)
    yield from _disk_families(counts)


def splice_families(splicing: Splicing | None) -> Iterator[Metric]:
    """Of edits inside prompts; all 0 where there are none."""
    splices = _counter("split_kv_splices", "Edits inside a prompt.", "outcome")
    for outcome in EDITS:
        splices.add_metric([outcome], 0 if splicing is None else splicing.outcomes[outcome])
    told = "Positions behind the beginning of an edit by what became of them."
    positions = _counter("split_kv_splice_positions", told, "kind")
    for kind in KINDS:
        positions.add_metric([kind], 0 if splicing is None else splicing.positions[kind])
    yield from (splices, positions)
    told = "Approximate replies that were computed plainly as well, by how their rows came there."
    audits = _counter("split_kv_approximate_audit", told, "kind", "outcome")
    for way in WAYS:
        for outcome in AUDITED:
            found = 0 if splicing is None else splicing.audit.counts[way, outcome]
            audits.add_metric([way, outcome], found)
    yield audits


def audit_families(found: Mapping[Measure, Histogram]) -> Iterator[Metric]:
    """How far audited replies were off, by what was compared."""
    yield _histogram(
        "split_kv_audit_kl",
        "Divergence of audited approximate replies from the plain ones, in nats a token.",
        found["kl"],
    )
    yield _histogram(
        "split_kv_audit_states",
        "Difference of audited hidden states from the plain ones, over their norm.",
        found["states"],
    )


def _shared(reuse: Reuse) -> Iterator[Metric]:
    """Of beginnings that sessions hold in common."""
    sharing = reuse.sharing
    yield _gauge(
        "split_kv_segment_bytes",
        "Bytes of beginnings that several sessions hold in common.",
        0 if sharing is None else sharing.bytes,
    )
    yield _gauge(
        "split_kv_segment_sessions",
        "Sessions that hold their beginning in common with others.",
        0 if sharing is None else sharing.sessions,
    )


def _exactness(reuse: Reuse) -> Iterator[Metric]:
    """By how exact what is kept is, wherever that is."""
    told = "Positions that were kept and taken into a cache, by how exact they are."
    positions = _counter("split_kv_tier_positions", told, "tier")
    held = GaugeMetricFamily(
        "split_kv_tier_bytes", "Bytes kept in memory, by how exact they are.", labels=["tier"]
    )
    for tier in TIERS:
        positions.add_metric([tier], reuse.taken_tiers[tier])
        held.add_metric([tier], reuse.pool.bytes_of(tier))
    yield from (positions, held)


def _tiers(reuse: Reuse) -> Iterator[Metric]:
    size = GaugeMetricFamily(
        "split_kv_bytes", "Bytes that are kept for later sessions.", labels=["tier"]
    )
    runs = GaugeMetricFamily(
        "split_kv_runs", "Runs that are kept for later sessions.", labels=["tier", "state"]
    )
    size.add_metric(["memory"], reuse.pool.held_bytes)
    states = reuse.pool.states()
    for state in STATES:
        runs.add_metric(["memory", state], states[state])
    if reuse.disk is not None:
        size.add_metric(["disk"], reuse.disk.index.total)
        runs.add_metric(["disk", "written"], len(reuse.disk.index))
    yield from (size, runs)


def _disk_families(counts: Counts) -> Iterator[Metric]:
    failures = _counter(
        "split_kv_disk_failures", "Files of kept runs, reads and writes that failed.", "kind"
    )
    for kind in FAILURES:
        failures.add_metric([kind], counts.failed[kind])
    seconds = _counter("split_kv_disk_seconds", "Seconds that files of kept runs took.", "work")
    files = _counter("split_kv_disk_files", "Files of kept runs that were handled.", "work")
    for work in ("read", "write"):
        seconds.add_metric([work], counts.seconds.get(work, 0.0))
        files.add_metric([work], counts.files[work])
    yield from (failures, seconds, files)


def generation_families(generator: Generator) -> Iterator[Metric]:
    """Of the OpenAI and Kobold APIs."""
    places, counters = generator.places, generator.counters
    places_family = GaugeMetricFamily(
        "split_generations", "Generations of the compatible APIs by state.", labels=["state"]
    )
    places_family.add_metric(["running"], places.running)
    places_family.add_metric(["waiting"], places.waiting)
    ended = _counter("split_generations_ended", "Generations of the compatible APIs that ended.")
    ended.add_metric([], counters.generations)
    tokens = _counter("split_generation_tokens", "Tokens of those generations.", "part")
    tokens.add_metric(["prompt"], counters.prompt_tokens)
    tokens.add_metric(["cached"], counters.cached_tokens)
    tokens.add_metric(["reply"], counters.reply_tokens)
    told = "Tokens of those replies: guessed before a pass, guessed right, forced by a form."
    guesses = _counter("split_generation_drafts", told, "outcome")
    for outcome, count in counters.drafts.document().items():
        if outcome != "passes_saved":
            guesses.add_metric([outcome], count)
    saved = _counter("split_generation_passes_saved", "Tokens that needed no pass of their own.")
    saved.add_metric([], counters.drafts.passes_saved)
    yield from (places_family, ended, tokens, guesses, saved)


def load_families(load: float) -> Iterator[Metric]:
    """How much of its limits it uses."""
    yield _gauge(
        "split_load",
        "0 to 1: the largest share of caches, sessions and bearable waiting in 15 seconds.",
        load,
    )


def connection_families(sessions: int, sockets: int) -> Iterator[Metric]:
    """Of what is open."""
    yield _gauge("split_sessions", "Sessions that are open.", sessions)
    yield _gauge("split_sockets", "WebSockets that are open.", sockets)


def hidden_families(positions: int, size: int) -> Iterator[Metric]:
    """Of rows that are hidden in open sessions."""
    yield _gauge("split_kv_hidden_positions", "Positions hidden in open sessions.", positions)
    yield _gauge("split_kv_hidden_bytes", "Bytes of their keys and values.", size)


def build_family(version: str, model: str, family: str, dtype: str) -> Metric:
    """The build, and the model that it serves."""
    labels = {"version": version, "model": model, "family": family, "dtype": dtype}
    info = GaugeMetricFamily("split_build_info", "1, for what its labels say.", labels=list(labels))
    info.add_metric(list(labels.values()), 1)
    return info


def _counter(name: str, help_text: str, *labels: str) -> CounterMetricFamily:
    return CounterMetricFamily(name, help_text, labels=list(labels))


def _gauge(name: str, help_text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, help_text, value=value)


def _histogram(name: str, help_text: str, histogram: Histogram) -> HistogramMetricFamily:
    family = HistogramMetricFamily(name, help_text, labels=[])
    _add(family, [], histogram)
    return family


def _add(family: HistogramMetricFamily, labels: list[str], histogram: Histogram) -> None:
    family.add_metric(labels, histogram.cumulative(), histogram.total)
