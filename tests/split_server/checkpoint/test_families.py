"""The meaning of a family's configuration, compared with transformers' own."""

from __future__ import annotations

import math
from typing import Any

import pytest
from transformers import AutoConfig

from split_server.checkpoint.families import EMBEDDING, FAMILIES, HEAD, HEAD_BIAS, family_of
from split_server.errors import MalformedCheckpoint

SCALED = {"gemma", "gemma2", "gemma3_text"}
CAPPED = {"gemma2", "gemma3_text"}
MULTIPLIED = {"cohere", "cohere2"}
BOTH = {EMBEDDING: None, HEAD: None, HEAD_BIAS: None}


def sparse(family: str, **fields: Any) -> dict[str, Any]:
    """A config.json that leaves everything to the family's defaults that it may."""
    return {"model_type": family, "hidden_size": 640, "num_attention_heads": 8} | fields


@pytest.mark.parametrize("family", FAMILIES)
def test_fields_that_are_left_out_mean_what_they_mean_in_transformers(family: str) -> None:
    config = sparse(family)
    theirs = AutoConfig.for_model(**config)
    ours = family_of(config).completed(config)
    assert ours["tie_word_embeddings"] == theirs.tie_word_embeddings
    assert ours["final_logit_softcapping"] == getattr(theirs, "final_logit_softcapping", None)
    for scale in ("logit_scale", "logits_scaling"):
        assert ours.get(scale) == getattr(theirs, scale, None)
    assert (ours["head_dim"] or 80) == (getattr(theirs, "head_dim", None) or 80)
    assert (ours["num_key_value_heads"] or 8) == theirs.num_key_value_heads


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("tied", [True, False])
def test_ends_follow_the_configuration(family: str, tied: bool) -> None:
    config = sparse(family, tie_word_embeddings=tied, final_logit_softcapping=20.0)
    ends = family_of(config).ends(config, BOTH)
    assert ends.embedding == EMBEDDING
    assert ends.head == (EMBEDDING if tied else HEAD)
    assert ends.embedding_scale == (math.sqrt(640) if family in SCALED else None)
    assert ends.softcap == (20.0 if family in CAPPED else None)
    assert ends.head_bias == (HEAD_BIAS if family == "phi" else None)


@pytest.mark.parametrize("family", FAMILIES)
def test_logits_are_multiplied_or_divided_as_the_configuration_says(family: str) -> None:
    config = sparse(family, tie_word_embeddings=True, logit_scale=0.3, logits_scaling=10)
    ends = family_of(config).ends(config, BOTH)
    assert ends.logit_scale == (0.3 if family in MULTIPLIED else 1.0)
    assert ends.logit_divisor == (10.0 if family == "granite" else 1.0)


@pytest.mark.parametrize(
    ("family", "field"), [("cohere", "logit_scale"), ("granite", "logits_scaling")]
)
@pytest.mark.parametrize("value", [None, 0, -1.0, "8", True, math.inf])
def test_a_scale_that_is_no_positive_number_is_refused(
    family: str, field: str, value: object
) -> None:
    config = sparse(family, **{field: value})
    with pytest.raises(MalformedCheckpoint, match=field):
        family_of(config).ends(config, BOTH)


def test_a_cap_that_is_null_is_none_and_not_the_default() -> None:
    config = sparse("gemma2", final_logit_softcapping=None)
    assert family_of(config).ends(config, BOTH).softcap is None
    assert family_of(config).ends(sparse("gemma2"), BOTH).softcap == 30.0


@pytest.mark.parametrize("cap", [0, -30.0, "30", True, math.inf, math.nan])
def test_a_cap_that_is_no_positive_number_is_refused(cap: object) -> None:
    config = sparse("gemma2", final_logit_softcapping=cap)
    with pytest.raises(MalformedCheckpoint, match="final_logit_softcapping"):
        family_of(config).ends(config, BOTH)


@pytest.mark.parametrize("missing", BOTH)
def test_an_end_that_is_missing_is_named(missing: str) -> None:
    config = sparse("phi")
    tensors = {name: None for name in BOTH if name != missing}
    with pytest.raises(MalformedCheckpoint, match=missing):
        family_of(config).ends(config, tensors)
