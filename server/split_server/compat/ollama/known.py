"""The fields of Ollama's API, and which of them have an effect here."""

from __future__ import annotations

from typing import Any, Final

from split_server.compat.accepted.values import NOTHING, known

# Those of every request to a model. It stays loaded whatever they say.
_ALWAYS: Final = ("model", "name", "options", "stream", "format", "think", "logprobs")
_KEPT: Final = ("keep_alive", "truncate", "shift")
_REASONS: Final = {
    "context": "send the messages of the chat to /api/chat, which finds what is cached",
    "images": "this model reads text",
    "suffix": "text is written at the end only",
    "template": "the model's own template writes the prompt; raw true sends one as it is",
    "width": "this model writes text",
    "height": "this model writes text",
    "steps": "this model writes text",
    "dimensions": "an embedding has as many numbers as the model's hidden states",
}
CHAT: Final = known(
    (*_ALWAYS, "top_logprobs", "messages", "tools", "cache", "cache_salt"),
    _KEPT,
    {"template": NOTHING},
    _REASONS,
)
GENERATE: Final = known(
    (*_ALWAYS, "top_logprobs", "prompt", "system", "raw", "cache", "cache_salt"),
    _KEPT,
    dict.fromkeys(("context", "images", "suffix", "template", "width", "height", "steps"), NOTHING),
    _REASONS,
)
MESSAGE: Final = known(
    ("role", "content", "tool_calls", "tool_name", "tool_call_id"),
    ("thinking",),
    {"images": NOTHING},
    _REASONS,
)
CALL: Final = known(("function", "id", "type"))
FUNCTION: Final = known(("name", "arguments"), ("index", "description"))
SHOW: Final = known(("model", "name"), ("verbose",), {"system": NOTHING, "template": NOTHING})
OPTIONS: Final = known(
    read=(
        "frequency_penalty", "min_p", "num_predict", "presence_penalty", "repeat_penalty", "seed",
        "stop", "temperature", "top_k", "top_p", "repeat_last_n", "penalize_newline",
    ),
    harmless=(
        "draft_num_predict", "f16_kv", "low_vram", "main_gpu", "mirostat_eta", "mirostat_tau",
        "num_batch", "num_ctx", "num_gpu", "num_keep", "num_thread", "numa", "use_mlock",
        "use_mmap",
    ),
    neutral={
        "embedding_only": (False,),
        "logits_all": (False,),
        "mirostat": (0,),
        "tfs_z": (1.0,),
        "typical_p": (1.0,),
        "vocab_only": (False,),
    },
    reasons={
        "mirostat": "this sampler is not here; use top_p, top_k or min_p",
        "tfs_z": "this sampler is not here; use top_p, top_k or min_p",
        "typical_p": "this sampler is not here; use top_p, top_k or min_p",
    },
)  # fmt: skip
# With these penalties the windows of others do not matter.
NO_PENALTY: Final[dict[str, Any]] = {
    "repeat_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0,
}  # fmt: skip
WINDOWS_REASON: Final = "presence and frequency are counted over all of prompt and reply"
NEWLINE_REASON: Final = "penalties count for every token"
