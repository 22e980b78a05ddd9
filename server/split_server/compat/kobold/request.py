"""A generation as a Kobold client asks for it, parsed whole before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from split_client.generation.sampling.logprobs import MAX_TOP_LOGPROBS
from split_client.generation.sampling.params import SamplingParams
from split_client.grammar.form import Form, grammar_form
from split_client.grammar.keywords import MOST_BYTES
from split_server.compat.accepted.kobold import KOBOLD
from split_server.compat.grammars.grammars import MakeConstraint
from split_server.compat.keeping import MAX_GROUP, MAX_SALT, MAX_SHARED, Keeping
from split_server.compat.kobold.attention import AttentionOptions, attention_options
from split_server.compat.kobold.errors import InvalidRequest, UnsupportedField
from split_server.compat.kobold.fields import Fields
from split_server.compat.kobold.pruning import rows_wanted
from split_server.compat.kobold.sampling import sampling_params
from split_server.compat.request import GenerationRequest
from split_server.engine.model.info import ModelInfo
from split_wire.attention import AttentionRequest
from split_wire.tiers import CACHES

DEFAULT_MAX_TOKENS = 200
MAX_SAMPLES = 8
MAX_TEXT = 4 << 20
DEFAULT_TOP_LOGPROBS = 5
_LARGEST_COUNT = 2**31 - 1
_MAX_STOPS = 256
_MAX_STOP_LENGTH = 4096
MAX_NAME = 256
_SEEDS = 2**64


@dataclass(frozen=True, slots=True)
class Defaults:
    """An endpoint's defaults where a request does not say: ``logprobs`` None for none."""

    sampling: SamplingParams
    attention: bool = False
    logprobs: int | None = None


@dataclass(frozen=True, slots=True)
class KoboldRequest:
    """``prompt``: token ids, or text that is still to be encoded (``special`` adds what a prompt
    begins with); ``logprobs``: how many of the most likely tokens are told, None for none;
    ``form``: what the reply must be; ``looks``: the rows from which a pruning is suggested, None
    for no suggestion.
    """

    prompt: tuple[int, ...] | str
    special: bool
    params: SamplingParams
    max_tokens: int
    stop_tokens: frozenset[int]
    ignore_eos: bool
    stops: tuple[str, ...]
    attention: AttentionOptions | None
    logprobs: int | None
    samples: int
    name: str | None
    key: str | None
    keeping: Keeping
    form: Form | None
    looks: AttentionRequest | None = None

    def generation(
        self, prompt: tuple[int, ...], sample: int, constraint: MakeConstraint | None = None
    ) -> GenerationRequest:
        """The request of one of the samples; a seed that was given counts up from the first.

        ``constraint`` makes the state of each one's form.
        """
        seed = self.params.seed
        own = None if seed is None else (seed + sample) % _SEEDS
        return GenerationRequest(
            prompt=prompt,
            params=replace(self.params, seed=own),
            max_tokens=self.max_tokens,
            stop_tokens=self.stop_tokens,
            ignore_eos=self.ignore_eos,
            stops=self.stops,
            attention=self.looks if self.attention is None else self.attention.request(),
            logprobs=self.logprobs,
            keeping=self.keeping,
            constraint=constraint,
        )


def kobold_request(values: Mapping[str, Any], info: ModelInfo, defaults: Defaults) -> KoboldRequest:
    """Parse the fields of a generation.

    Raises InvalidRequest, InvalidParameter, UnsupportedField, InvalidToken,
    InvalidSamplingParameter.
    """
    fields, vocab = Fields(values), info.vocab_size
    wanted = fields.flag("return_attention", "output_attentions")
    attention = defaults.attention if wanted is None else wanted
    length = fields.whole(1, _LARGEST_COUNT, "max_new_tokens", "max_length")
    bos = fields.flag("add_bos_token")
    request = KoboldRequest(
        prompt=_prompt(fields, vocab),
        special=bos is not False,
        params=sampling_params(fields, defaults.sampling, vocab, frozenset(info.eos_token_ids)),
        max_tokens=min(length or DEFAULT_MAX_TOKENS, info.max_context),
        stop_tokens=frozenset(fields.tokens(vocab, vocab, "stop_tokens")),
        ignore_eos=bool(fields.flag("ignore_eos", "bypass_eos")),
        stops=fields.texts(_MAX_STOPS, _MAX_STOP_LENGTH, "stop_sequence", "stop"),
        attention=attention_options(fields) if attention else None,
        logprobs=_logprobs(fields, defaults.logprobs),
        samples=fields.whole(1, MAX_SAMPLES, "num_samples", "n") or 1,
        name=fields.text(MAX_NAME, "request_id"),
        key=fields.text(MAX_NAME, "genkey"),
        keeping=_keeping(fields),
        form=_form(fields),
        looks=rows_wanted(info.num_layers) if fields.flag("pruning_suggestion") else None,
    )
    _refuse_unread(fields)
    return request


def _refuse_unread(fields: Fields) -> None:
    """What Kobold's servers know, this one does not, and would change the reply."""
    known = {name: value for name, value in fields.unread().items() if name in KOBOLD.neutral}
    name = KOBOLD.refused(known)
    if name is not None:
        raise UnsupportedField(name, KOBOLD.advice(name))


def _keeping(fields: Fields) -> Keeping:
    return Keeping(
        fields.text(MAX_SALT, "cache_salt"),
        group=fields.text(MAX_GROUP, "cache_group"),
        until=fields.whole(0, MAX_SHARED, "share_until") or 0,
        cache=fields.choice(CACHES, "cache") or "exact",
    )


def _form(fields: Fields) -> Form | None:
    # Clients send an empty one for none.
    grammar = fields.text(MOST_BYTES, "grammar")
    return grammar_form(grammar) if grammar else None


def _prompt(fields: Fields, vocab_size: int) -> tuple[int, ...] | str:
    if fields.name("input_ids") is not None:
        return fields.tokens(vocab_size, _LARGEST_COUNT, "input_ids")
    text = fields.text(MAX_TEXT, "prompt")
    if text is None:
        raise InvalidRequest("there is nothing to continue: give 'input_ids' or 'prompt'")
    return (fields.text(MAX_TEXT, "memory") or "") + text


def _logprobs(fields: Fields, default: int | None) -> int | None:
    wanted: int | None = default
    if isinstance(fields.value("logprobs"), bool):
        wanted = (default or DEFAULT_TOP_LOGPROBS) if fields.flag("logprobs") else None
    elif fields.name("logprobs") is not None:
        wanted = fields.whole(0, MAX_TOP_LOGPROBS, "logprobs")
    count = fields.whole(0, MAX_TOP_LOGPROBS, "top_logprobs")
    return wanted if count is None or fields.value("logprobs") is False else count
