"""Any JSON in any field: an answer or a refusal, never a fault of the server."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.exhaustive import EXHAUSTIVE
from tests.server_process import RunningServer
from tests.split_server.http.kobold.client import EVENTS, GENERATE

SMALL = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 400),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
)
ANY = st.one_of(
    SMALL, st.lists(SMALL, max_size=4), st.dictionaries(st.text(max_size=3), SMALL, max_size=3)
)
IDS = st.lists(st.integers(0, 330), min_size=1, max_size=6)
FIELDS = (
    "prompt", "memory", "add_bos_token", "temperature", "top_k", "top_p", "min_p",
    "repetition_penalty", "rep_pen", "presence_penalty", "frequency_penalty", "logit_bias",
    "sampler_seed", "seed", "banned_tokens", "ban_eos_token", "use_default_badwordsids",
    "stop_tokens", "ignore_eos", "stop_sequence", "stop", "return_attention", "output_attentions",
    "attention_format", "aggregation_mode", "attention_top_k", "attention_dtype", "logprobs",
    "top_logprobs", "request_id", "genkey", "num_samples", "do_sample",
)  # fmt: skip
MANY, SOME = (120, 60) if EXHAUSTIVE else (40, 20)
FORMATS = st.sampled_from(["per_layer", "aggregated", "sparse", "viz"])


@pytest.mark.parametrize("path", [GENERATE, EVENTS])
def test_generations_of_any_fields(open_server: RunningServer, path: str) -> None:
    with open_server.client() as client:

        @settings(max_examples=MANY, deadline=None, suppress_health_check=list(HealthCheck))
        @given(
            ids=IDS,
            fields=st.dictionaries(st.sampled_from(FIELDS), ANY, max_size=5),
            shape=st.fixed_dictionaries({}, optional={"attention_format": FORMATS}),
        )
        def check(ids: list[int], fields: dict[str, Any], shape: dict[str, Any]) -> None:
            known = {"input_ids": ids, "max_length": 2, "return_attention": bool(shape)}
            answered(client, path, known | fields | shape)

        check()


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/api/v1/tokenize", ("text", "add_special_tokens")),
        ("/api/v1/detokenize", ("token_ids",)),
        ("/api/extra/tokencount", ("prompt", "special")),
        ("/api/extra/abort", ("genkey",)),
    ],
)
def test_other_requests_of_any_fields(
    open_server: RunningServer, path: str, names: tuple[str, ...]
) -> None:
    with open_server.client() as client:

        @settings(max_examples=SOME, deadline=None, suppress_health_check=list(HealthCheck))
        @given(fields=st.dictionaries(st.sampled_from(names), st.one_of(ANY, IDS), max_size=2))
        def check(fields: dict[str, Any]) -> None:
            answered(client, path, fields)

        check()


def answered(client: httpx.Client, path: str, fields: dict[str, Any]) -> None:
    response = client.post(path, json=fields)
    assert response.status_code in (200, 400, 413), response.text
    if response.status_code != 200:
        assert response.json()["error_code"] not in ("INTERNAL", ""), response.text
