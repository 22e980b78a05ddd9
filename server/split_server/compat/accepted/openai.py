"""Fields of OpenAI's reference, and of servers that speak its API, that nobody reads here."""

from __future__ import annotations

from split_server.compat.accepted.samplers import SAMPLERS
from split_server.compat.accepted.values import Accepted

_HARMLESS = frozenset(
    {
        # OpenAI's: who asks and what is kept of it there.
        "metadata",
        "safety_identifier",
        "service_tier",
        "store",
        "user",
        # vLLM's.
        "guided_decoding_backend",
        "include_reasoning",
        "priority",
        "request_id",
        "spaces_between_special_tokens",
        # llama.cpp's: how its cache and its context are used.
        "cache_prompt",
        "id_slot",
        "n_discard",
        "n_keep",
        "return_progress",
        "timings_per_token",
        # text-generation-webui's and SillyTavern's.
        "api_server",
        "api_type",
        "legacy_api",
        "truncation_length",
        # Ollama's: nothing is loaded or unloaded, and the context is the server's.
        "keep_alive",
        "num_ctx",
    }
)
OPENAI = SAMPLERS | Accepted(
    _HARMLESS,
    {
        "ban_eos_token": (False,),
        "detokenize": (True,),
        "do_sample": (True,),
        "include_stop_str_in_output": (False,),
        "prompt_logprobs": (),
        "skip_special_tokens": (True,),
        "trim_stop": (True,),
        "verbosity": ("medium",),
    },
)
CHAT = OPENAI | Accepted(neutral={"add_bos_token": (True,), "best_of": (1,), "echo": (False,)})
# Options of a stream, and of a form: about its white space, of which there is one kind.
STREAM = Accepted(frozenset({"include_obfuscation"}))
FORM = Accepted(frozenset({"name", "description", "strict", "disable_fallback", "backend"}))
SPACES = Accepted(frozenset({"disable_fallback", "disable_any_whitespace"}))
# llama.cpp's reading of marks in a text, which are read here.
TOKENIZE = Accepted(neutral={"parse_special": (True,)})
