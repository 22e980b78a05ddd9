"""Settings of replies."""

from __future__ import annotations

from pathlib import Path

from split_client.config.noise import NoiseConfig
from split_client.generation.errors import InvalidSamplingParameter
from split_client.generation.speculation.wanted import MOST_DRAFTS, Drafts, drafts_of
from split_masks.limits import MOST_MASKS
from split_settings import option, settings

KINDS = ("names", "emails", "ibans", "cards", "ids", "phones", "addresses", "dates")
# Far above any context; a bound for typing errors.
LONGEST_REPLY = 1 << 24


def _bias(text: str) -> str:
    token, _, value = text.partition("=")
    try:
        inside = int(token) >= 0 and abs(float(value)) <= 100
    except ValueError:
        inside = False
    if not inside:
        raise ValueError(f"{text[:40]!r} is not TOKEN_ID=NUMBER in -100..100, like 42=-5")
    return text


def _drafts(text: str) -> Drafts:
    try:
        return drafts_of(text)
    except InvalidSamplingParameter as error:
        raise ValueError(f"expected {error.allowed}, got {text[:40]!r}") from None


@settings("client")
class ReplyConfig(NoiseConfig):
    """Settings of replies; what is not given is the model's own default."""

    system: str | None = option(
        None,
        help="system message, or @NAME of a preset",
        metavar="TEXT",
        group="reply",
        short="-s",
    )
    presets: Path | None = option(
        None,
        help="folder of your presets (default: beside the configuration file)",
        metavar="DIR",
        group="reply",
    )
    max_tokens: int = option(
        1024,
        help="longest reply, in tokens",
        minimum=1,
        maximum=LONGEST_REPLY,
        group="reply",
        short="-m",
    )
    stop: tuple[str, ...] = option(
        (), help="end the reply before this text", metavar="TEXT", group="reply"
    )
    adapter: str | None = option(
        None,
        help="adapter for the replies; auto chooses by the words of each message, on this device; "
        "none is the model alone. Without --adapter-host the server applies it and sees its name",
        metavar="NAME",
        group="reply",
        short="-a",
    )
    adapter_host: str | None = option(
        None,
        help="host that evaluates adapters on ciphertexts under this device's key",
        metavar="URL",
        group="connection",
    )
    adapter_token: str | None = option(
        None,
        help="bearer token of the adapter host; better in SPLIT_CLIENT_ADAPTER_TOKEN",
        metavar="TOKEN",
        group="connection",
        secret=True,
    )
    masks: int = option(
        0,
        help="one-time masks to have ready for each reply, made with the adapter host between "
        "replies; each is a query of its budget, used or not",
        minimum=0,
        maximum=MOST_MASKS,
        group="connection",
    )
    temperature: float | None = option(
        None, help="0 is greedy", minimum=0, maximum=100, group="sampling", short="-t"
    )
    top_k: int | None = option(
        None,
        help="keep the k likeliest tokens, 0: off",
        minimum=0,
        maximum=2**31 - 1,
        group="sampling",
    )
    top_p: float | None = option(
        None, help="keep this much probability", above=0, maximum=1, group="sampling"
    )
    min_p: float | None = option(
        None,
        help="keep tokens with this part of the best one's probability",
        minimum=0,
        maximum=1,
        group="sampling",
    )
    repetition_penalty: float | None = option(
        None,
        help="above 1 avoids tokens of prompt and reply",
        minimum=0.01,
        maximum=100,
        group="sampling",
    )
    presence_penalty: float | None = option(
        None,
        help="subtracted for tokens of the reply, -2 to 2",
        minimum=-2,
        maximum=2,
        group="sampling",
    )
    frequency_penalty: float | None = option(
        None,
        help="the same for each time that they occurred",
        minimum=-2,
        maximum=2,
        group="sampling",
    )
    seed: int | None = option(
        None, help="repeats the same choices", minimum=0, maximum=2**63 - 1, group="sampling"
    )
    logit_bias: tuple[str, ...] = option(
        (),
        help="add to a token's logit: TOKEN_ID=NUMBER",
        metavar="ID=N",
        group="sampling",
        parse=_bias,
    )
    lm_head: str = option(
        "exact",
        help="exact: int8 screen and exact rescoring; compact: 4-bit shortlist rescored, half the "
        "bytes per token, not proven; full: every row each time, results of exact",
        choices=("exact", "compact", "full"),
        group="sampling",
    )
    drafts: Drafts = option(
        "auto",
        help="tokens that a step guesses, so that it brings several where they are right: auto (as "
        f"many as pay), off, or a number up to {MOST_DRAFTS}; replies do not depend on it",
        metavar="N",
        group="drafts",
        parse=_drafts,
        numbers=True,
    )
    draft_file: Path | None = option(
        None,
        help="a text that the reply is thought to be, but for differences: the file it edits",
        metavar="FILE",
        group="drafts",
    )
    draft_memory: str = option(
        "chat",
        help="what guesses are made of: this chat alone, or replies of other chats with this "
        "server since the program was started, too",
        choices=("chat", "server"),
        group="drafts",
    )
    redact: bool = option(
        False,
        help="send surrogates for names, numbers and addresses, and undo them in replies; it "
        "misses names that it does not know (docs/redaction.md)",
        group="redaction",
    )
    redact_names: Path | None = option(
        None, help="file with names of your own, a person a line", metavar="FILE", group="redaction"
    )
    redact_kinds: tuple[str, ...] = option(
        (), help="instead of all but dates", metavar="KIND", choices=KINDS, group="redaction"
    )
    redact_region: tuple[str, ...] = option(
        (),
        help="country of phone numbers without a code (default: the locale's)",
        metavar="CC",
        group="redaction",
    )
    markdown: bool = option(True, help="render markdown on a terminal", group="screen")
    theme: str = option(
        "auto",
        help="colours; auto: by COLORFGBG, else some that fit dark and light",
        choices=("auto", "dark", "light", "mono"),
        group="screen",
    )
