"""Arbitrary tensors and messages."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from split_wire.fields import MAX_STEP
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
    Result,
    Step,
)
from split_wire.tensor import WIRE_DTYPES, Tensor, item_size

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


finite_rows = st.tuples(st.integers(1, 5), st.integers(1, 9)).flatmap(
    lambda shape: st.lists(
        st.floats(-60000, 60000, width=32),
        min_size=shape[0] * shape[1],
        max_size=shape[0] * shape[1],
    ).map(lambda values: np.array(values, np.float32).reshape(shape))
)

client_messages = st.one_of(
    st.builds(
        Open,
        st.none() | texts,
        st.none() | dtypes,
        capabilities=st.lists(texts, max_size=5).map(tuple),
    ),
    st.builds(
        Step,
        texts,
        counts,
        counts,
        digests,
        tensors(),
        st.sampled_from(("last", "all")),
        st.none() | texts,
        st.booleans(),
    ),
    st.builds(Close, texts),
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
    ),
    st.builds(Result, texts, counts, counts, tensors(), counts, counts, st.just(b"") | digests),
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
