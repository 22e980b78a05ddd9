"""What a config.json says of quantized matrices: read strictly, refused in words."""

from __future__ import annotations

from typing import Any

import pytest

from split_server.checkpoint.grouped.scheme import Scheme, scheme_of
from split_server.errors import MalformedCheckpoint, UnsupportedQuantization

_AWQ = {"quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemm", "zero_point": True}
_GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": True, "sym": True}


def test_a_plain_config_has_no_scheme() -> None:
    assert scheme_of({"model_type": "llama"}) is None
    assert scheme_of({"quantization_config": None}) is None


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (_AWQ, Scheme(along_rows=False, group=128, zero_offset=0, ordered=False)),
        (_AWQ | {"version": "GEMM"}, Scheme(False, 128, 0, False)),
        (_GPTQ, Scheme(along_rows=True, group=128, zero_offset=1, ordered=True)),
        (_GPTQ | {"group_size": -1}, Scheme(True, 0, 1, True)),
        (_GPTQ | {"checkpoint_format": "gptq_v2"}, Scheme(True, 128, 0, True)),
        ({"quant_method": "awq", "w_bit": 4, "q_group_size": 64}, Scheme(False, 64, 0, False)),
    ],
)
def test_schemes_of_both_writers(fields: dict[str, Any], expected: Scheme) -> None:
    assert scheme_of({"quantization_config": fields}) == expected


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"quant_method": "bitsandbytes"}, "bitsandbytes"),
        ({"quant_method": "fp8"}, "fp8"),
        ({}, "quant_method"),
        (_GPTQ | {"bits": 8}, "8 bits"),
        (_GPTQ | {"bits": "4" * 1000}, "bits"),
        (_GPTQ | {"bits": True}, "bits"),
        (_AWQ | {"group_size": 16}, "group_size 16"),
        (_AWQ | {"group_size": 10**30}, "group_size"),
        (_AWQ | {"group_size": None}, "group_size"),
        (_AWQ | {"version": "gemv"}, "gemv"),
        (_GPTQ | {"checkpoint_format": "marlin"}, "marlin"),
        (_GPTQ | {"dynamic": {"-:down": {}}}, "dynamic"),
    ],
)
def test_what_is_not_read_is_refused_by_name(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(UnsupportedQuantization, match=words) as caught:
        scheme_of({"quantization_config": fields})
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("found", ["awq", [], 7, {"quant_method": ["awq"]}, _AWQ | {"version": 3}])
def test_what_is_no_description_is_refused(found: Any) -> None:
    with pytest.raises(MalformedCheckpoint):
        scheme_of({"quantization_config": found})
