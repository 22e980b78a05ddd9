"""Reasons why a model is not split: its family's name, or an option of its configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_PER_LAYER_INPUTS = "its layers need the token ids themselves, so it cannot be split"
_MULTIMODAL = (
    "it joins a text model with encoders of images, video or sound; "
    "only a checkpoint of the text model alone can be split"
)
_GEMMA3 = f"{_MULTIMODAL}, which is gemma3_text"
_ENCODER = (
    "its decoder reads what an encoder made of the whole input, "
    "so an input cannot grow step by step or be cut back"
)
_RECURRENT = (
    "its layers keep a running state, which cannot be cut back to fewer positions "
    "as a cache of keys and values can"
)
_BIDIRECTIONAL = "its positions also see later ones, so those that are cached would not stay true"
_CHANGING_ROPE = (
    "its rotary embedding changes with the longest sequence so far, "
    "and sessions of different length would disturb each other"
)

# Old configurations of Phi 3 call longrope so (Phi3Config of transformers).
_PHI3_LONGROPE = ("su", "yarn")

_NAMES = {
    _PER_LAYER_INPUTS: "gemma3n gemma3n_text gemma4 gemma4_text gemma4_unified gemma4_unified_text",
    _MULTIMODAL: (
        "aya_vision idefics2 idefics3 internvl llama4 llava llava_next llava_onevision mistral3 "
        "mllama paligemma phi4_multimodal qwen2_5_omni qwen2_5_vl qwen2_audio qwen2_vl "
        "qwen3_omni_moe qwen3_vl qwen3_vl_moe smolvlm voxtral"
    ),
    _GEMMA3: "gemma3",
    _ENCODER: (
        "bart blenderbot encoder-decoder led longt5 m2m_100 marian mbart mt5 pegasus prophetnet "
        "switch_transformers t5 t5gemma umt5 whisper"
    ),
    _RECURRENT: (
        "bamba falcon_h1 falcon_mamba granitemoehybrid jamba kimi_linear lfm2 lfm2_moe mamba "
        "mamba2 minimax nemotron_h olmo_hybrid qwen3_5 qwen3_5_moe qwen3_5_moe_text qwen3_5_text "
        "qwen3_next recurrent_gemma rwkv xlstm zamba zamba2"
    ),
}
_REASONS = {name: reason for reason, names in _NAMES.items() for name in names.split()}
_ENCODER_CONFIGS = ("text_config", "vision_config", "audio_config")


class Option(NamedTuple):
    """``name``: the setting of config.json that rules the model out; ``reason``: why it does."""

    name: str
    reason: str


def reason_against(config: Mapping[str, Any]) -> str:
    """The reason why this ``model_type`` or shape is never split; empty where nothing is known."""
    reason = _REASONS.get(str(config.get("model_type")))
    if reason is not None:
        return reason
    if any(isinstance(config.get(name), Mapping) for name in _ENCODER_CONFIGS):
        return _MULTIMODAL
    if config.get("is_encoder_decoder") is True:
        return _ENCODER
    return "" if "model_type" in config else "its config.json names no model_type"


def ruling_option(config: Mapping[str, Any]) -> Option | None:
    """The option with which a model of a supported family cannot be split either."""
    if config.get("use_bidirectional_attention"):
        return Option("use_bidirectional_attention", _BIDIRECTIONAL)
    for kind in _rope_types(config):
        # Those that transformers recomputes while it runs (modeling_rope_utils).
        longrope = config.get("model_type") == "phi3" and kind in _PHI3_LONGROPE
        if "dynamic" in kind or kind == "longrope" or longrope:
            return Option(f"rope type {kind}", _CHANGING_ROPE)
    return None


def _rope_types(config: Mapping[str, Any]) -> Iterator[str]:
    """The rope types; Gemma 3 has one for each kind of layer."""
    for name in ("rope_parameters", "rope_scaling"):
        ropes = config.get(name)
        if not isinstance(ropes, Mapping):
            continue
        for rope in (ropes, *ropes.values()):
            if isinstance(rope, Mapping):
                yield str(rope.get("rope_type", rope.get("type", "default")))
