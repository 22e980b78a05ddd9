"""A Llama, Qwen2 or Qwen3 checkpoint as a GGUF file.

``python -m scripts.bench.peers.gguf_file CHECKPOINT FILE TYPE [VOCABULARY]``

Runs in the environment of llama-cpp-python, so it reads safetensors with numpy alone. TYPE: f16 or
bf16, of the matrices. The vocabulary is cut to a few rows unless more are asked for: llama.cpp
computes its head in every step, and a device end does that elsewhere.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import gguf
import numpy as np

_VOCABULARY = 32
_NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def write(checkpoint: Path, target: Path, kind: str, vocabulary: int = _VOCABULARY) -> None:
    """Convert the bfloat16 ``checkpoint``, with the first ``vocabulary`` tokens."""
    config = json.loads((checkpoint / "config.json").read_text())
    writer = gguf.GGUFWriter(target, str(config["model_type"]))
    _describe(writer, config, kind, vocabulary)
    for name, values in _tensors(checkpoint):
        ours = _translated(name)
        if ours is None:
            continue
        kept = values[:vocabulary] if ours == "token_embd.weight" else values
        kept = _turned(ours, kept, config)
        if kept.ndim == 1:
            writer.add_tensor(ours, kept)
        elif kind == "bf16":
            raw = gguf.quantize(kept, gguf.GGMLQuantizationType.BF16)
            writer.add_tensor(ours, raw, raw_dtype=gguf.GGMLQuantizationType.BF16)
        else:
            writer.add_tensor(ours, kept.astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _describe(
    writer: gguf.GGUFWriter, config: dict[str, object], kind: str, vocabulary: int
) -> None:
    heads = int(config["num_attention_heads"])
    rope = config.get("rope_parameters") or config
    writer.add_context_length(int(config["max_position_embeddings"]))
    writer.add_embedding_length(int(config["hidden_size"]))
    writer.add_block_count(int(config["num_hidden_layers"]))
    writer.add_feed_forward_length(int(config["intermediate_size"]))
    writer.add_head_count(heads)
    writer.add_head_count_kv(int(config["num_key_value_heads"]))
    if config.get("head_dim"):
        writer.add_key_length(int(config["head_dim"]))
        writer.add_value_length(int(config["head_dim"]))
    writer.add_rope_freq_base(float(rope["rope_theta"]))
    writer.add_layer_norm_rms_eps(float(config["rms_norm_eps"]))
    writer.add_vocab_size(vocabulary)
    writer.add_tokenizer_model("no_vocab")
    file_types = {"f16": gguf.LlamaFileType.MOSTLY_F16, "bf16": gguf.LlamaFileType.MOSTLY_BF16}
    writer.add_file_type(file_types[kind])


def _tensors(checkpoint: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Names and float32 values of every bfloat16 tensor."""
    for path in sorted(checkpoint.glob("*.safetensors")):
        raw = np.memmap(path, np.uint8, "r")
        size = int(raw[:8].view(np.uint64)[0])
        header = json.loads(raw[8 : 8 + size].tobytes())
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            begin, end = (8 + size + offset for offset in entry["data_offsets"])
            halves = np.frombuffer(raw[begin:end].tobytes(), np.uint16)
            values = (halves.astype(np.uint32) << 16).view(np.float32)
            yield name, values.reshape(entry["shape"])


def _turned(name: str, values: np.ndarray, config: dict[str, object]) -> np.ndarray:
    """llama.cpp's rope of Llama turns neighbours, that of checkpoints the halves of a head."""
    if config["model_type"] != "llama" or not (".attn_q." in name or ".attn_k." in name):
        return values
    key = "num_attention_heads" if ".attn_q." in name else "num_key_value_heads"
    halves = values.reshape(int(config[key]), 2, -1, *values.shape[1:])
    return halves.swapaxes(1, 2).reshape(values.shape)


def _translated(name: str) -> str | None:
    """The name in a GGUF file; None for an untied head, which is not needed."""
    if name == "model.embed_tokens.weight":
        return "token_embd.weight"
    if name == "model.norm.weight":
        return "output_norm.weight"
    if not name.startswith("model.layers."):
        return None
    number, rest = name.removeprefix("model.layers.").split(".", 1)
    part, kind = rest.rsplit(".", 1)
    return f"blk.{number}.{_NAMES[part]}.{kind}"


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], *map(int, sys.argv[4:5]))
