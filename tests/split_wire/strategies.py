"""Arbitrary tensors and messages."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from split_wire.attention import (
    LARGEST_HEADS,
    LARGEST_LAYERS,
    MAX_TOP_K,
    AttentionRequest,
    AttentionRows,
)
from split_wire.digest import DIGEST_BYTES
from split_wire.fields import MAX_STEP
from split_wire.hiding.seeing import Hidden, Hide, Show
from split_wire.hiding.spans import Spans
from split_wire.messages import (
    LARGEST_MAX_CONTEXT,
    LARGEST_MAX_ROWS,
    Close,
    Closed,
    Failure,
    Open,
    Opened,
    Ping,
    Pong,
    Restore,
    Restored,
    Result,
    Step,
)
from split_wire.probe import BLOCK, Probe
from split_wire.tensor import WIRE_DTYPES, Tensor, item_size
from split_wire.tiers import CACHES, Inexact

dtypes = st.sampled_from(WIRE_DTYPES)
counts = st.integers(0, MAX_STEP)
texts = st.text(st.characters(codec="utf-8"), max_size=40)
digests = st.binary(min_size=16, max_size=16)


@st.composite
def tensors(draw: st.DrawFn, min_rows: int = 0) -> Tensor:
    """Any bytes in any dtype: NaN and infinity too."""
    dtype = draw(dtypes)
    rows, width = draw(st.integers(min_rows, 5)), draw(st.integers(1, 9))
    size = rows * width * item_size(dtype)
    scales = 4 * rows if dtype == "i8" else 0
    data = draw(st.binary(min_size=size, max_size=size))
    return Tensor(dtype, (rows, width), data, draw(st.binary(min_size=scales, max_size=scales)))


requests = st.builds(
    AttentionRequest,
    st.sampled_from(("all", "mean", "max")),
    st.integers(0, MAX_TOP_K),
    st.sampled_from(("f32", "f16")),
    st.sets(st.integers(0, 4), max_size=4).map(lambda layers: tuple(sorted(layers))),
    st.sampled_from(("none", "mean", "max")),
)


@st.composite
def attention_rows(draw: st.DrawFn) -> AttentionRows:
    """Any bytes of any shape, with positions or without."""
    values = draw(tensors())
    size = 4 * values.rows * values.width
    places = Tensor("i32", values.shape, draw(st.binary(min_size=size, max_size=size)))
    layers, heads = draw(st.integers(0, LARGEST_LAYERS)), draw(st.integers(0, LARGEST_HEADS))
    return AttentionRows(layers, heads, values, draw(st.sampled_from((None, places))))


finite_rows = st.tuples(st.integers(1, 5), st.integers(1, 9)).flatmap(
    lambda shape: st.lists(
        st.floats(-60000, 60000, width=32),
        min_size=shape[0] * shape[1],
        max_size=shape[0] * shape[1],
    ).map(lambda values: np.array(values, np.float32).reshape(shape))
)


@st.composite
def probes(draw: st.DrawFn) -> Probe:
    """Any digests, as many as the positions need."""
    known, stride = draw(st.integers(1, 400)), BLOCK * draw(st.integers(1, 30))
    size = DIGEST_BYTES * -(-known // stride)
    return Probe(known, stride, draw(st.binary(min_size=size, max_size=size)))


@st.composite
def steps(draw: st.DrawFn) -> Step:
    """Any step; of the states it asks for as many as it has at most."""
    sent = draw(tensors())
    number = st.integers(1, sent.rows) if sent.rows else st.nothing()
    return Step(
        draw(texts),
        draw(counts),
        draw(counts),
        draw(digests),
        sent,
        draw(st.sampled_from(("last", "all")) | number),
        draw(st.none() | texts),
        draw(st.none() | requests),
    )


@st.composite
def spans(draw: st.DrawFn, most: int = 6) -> Spans:
    """Sorted and disjoint, none empty."""
    edges = sorted(draw(st.sets(st.integers(0, 2**32 - 1), max_size=2 * most)))
    return tuple(zip(edges[: len(edges) // 2 * 2 : 2], edges[1::2], strict=True))


inexact = st.builds(Inexact, counts, counts)
client_messages = st.one_of(
    st.builds(
        Open,
        st.none() | texts,
        st.none() | dtypes,
        capabilities=st.lists(texts, max_size=5).map(tuple),
        probe=st.none() | probes(),
        cache_salt=st.none() | texts,
        cache=st.sampled_from(CACHES),
        cache_group=st.none() | texts,
        share_until=counts,
        wait=st.booleans(),
    ),
    st.builds(Restore, texts, counts, digests, probes()),
    steps(),
    st.builds(Hide, texts, counts, digests, spans(), spans(1)),
    st.builds(Show, texts, counts, digests, spans()),
    st.builds(Close, texts, st.booleans()),
    st.just(Ping()),
)

server_messages = st.one_of(
    st.builds(
        Opened,
        texts,
        texts,
        dtypes,
        st.integers(0, LARGEST_MAX_ROWS),
        st.integers(0, LARGEST_MAX_CONTEXT),
        capabilities=st.lists(texts, max_size=5).map(tuple),
        layers=st.integers(0, LARGEST_LAYERS),
        heads=st.integers(0, LARGEST_HEADS),
        cached=counts,
        prefix=st.just(b"") | digests,
        interactive_rows=st.integers(1, LARGEST_MAX_ROWS),
        tiers=inexact,
        replica=st.none() | st.from_regex(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}", fullmatch=True),
        streamed=st.integers(0, LARGEST_LAYERS),
    ),
    st.builds(Restored, texts, counts, counts, counts, digests, inexact),
    st.builds(Hidden, texts, counts, spans()),
    st.builds(
        Result,
        texts,
        counts,
        counts,
        tensors(),
        counts,
        counts,
        st.just(b"") | digests,
        st.none() | attention_rows(),
        counts,
        inexact,
    ),
    st.builds(Closed, texts),
    st.just(Pong()),
    st.builds(
        Failure,
        st.from_regex(r"[a-z0-9_]{1,64}", fullmatch=True),
        st.text(st.characters(codec="utf-8"), max_size=40).map(
            lambda text: "".join(c for c in text if c.isprintable())
        ),
        st.booleans(),
        st.none() | st.floats(0, 1e8),
        st.none() | texts,
        st.none() | counts,
    ),
)
