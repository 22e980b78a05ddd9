"""Settings of the commands: flags, then ``SPLIT_CLIENT_*``, then the table ``[client]``."""

from __future__ import annotations

from pathlib import Path

from split_client.generation.errors import InvalidSamplingParameter
from split_client.generation.speculation.wanted import MOST_DRAFTS, Drafts, drafts_of
from split_client.transport.endpoint import DEFAULT_URL
from split_masks.limits import MOST_MASKS
from split_settings import option, settings
from split_wire.splice import MOST_BLEND

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
class ConnectionConfig:
    """Settings of the way to the server, and of the folder of its weights."""

    url: str = option(
        DEFAULT_URL, help="the server or relay", metavar="URL", group="connection", short="-u"
    )
    token: str | None = option(
        None,
        help="bearer token; better in SPLIT_CLIENT_TOKEN, or typed when asked",
        metavar="TOKEN",
        group="connection",
        secret=True,
    )
    transport: str = option(
        "auto",
        help="what carries frames; auto takes HTTP where a WebSocket does not get through",
        choices=("auto", "websocket", "http"),
        group="connection",
    )
    server_cache: str = option(
        "exact",
        help="exact lets the server keep what it computed of a chat for the next session, for this "
        "user alone; int8 also in less memory, with a small error that is told; approximate also "
        "keeps what lies behind an edit of a prompt, and documents by what they say, with an error "
        "that is told; off has it keep nothing",
        choices=("exact", "int8", "approximate", "off"),
        group="connection",
    )
    blend: float = option(
        0.0,
        help="with --server-cache approximate: the share of what an edit keeps behind it that is "
        "computed anew, where it differs most; all of it then travels; 0.15 is of use",
        minimum=0,
        maximum=MOST_BLEND,
        group="connection",
    )
    verify: str = option(
        "audit",
        help="with --server-cache approximate: full computes each reply that stands on moved rows "
        "plainly as well and tells how far off it is; audit does so with a share of them",
        choices=("audit", "full"),
        group="connection",
    )
    verify_share: float = option(
        0.01,
        help="that share",
        minimum=0,
        maximum=1,
        group="connection",
    )
    cache_group: str | None = option(
        None,
        help="group of the server's (its --kv-groups) that may find the beginnings of chats, such "
        "as one for a person's own devices; not with noise",
        metavar="NAME",
        group="connection",
    )
    share_until: int = option(
        0,
        help="positions of a chat that --cache-group may find",
        minimum=0,
        maximum=(1 << 53) - 1,
        group="connection",
    )
    cache: Path | None = option(
        None,
        help="folder for weights (default: SPLIT_CACHE, else the platform's cache folder)",
        metavar="DIR",
        group="connection",
    )


@settings("client")
class NoiseConfig(ConnectionConfig):
    """Noise on what is sent; none unless an epsilon or a sigma is given."""

    noise_epsilon: float | None = option(
        None,
        help="noise such that one replaced token is (epsilon, delta), each time that it is sent",
        metavar="E",
        above=0,
        group="noise",
    )
    noise_sigma: float | None = option(
        None, help="instead: the noise of every value", metavar="S", above=0, group="noise"
    )
    noise_delta: float = option(
        1e-5,
        help="delta of every epsilon",
        metavar="D",
        above=0,
        maximum=1 - 2**-53,
        group="noise",
    )
    noise_clip: float | None = option(
        None,
        help="rows are scaled down to this norm (default: that of which 1% of the table's are "
        "longer)",
        metavar="C",
        above=0,
        group="noise",
    )
    noise_budget: float | None = option(
        None,
        help="send nothing beyond this epsilon, everything replaced that was ever sent with noise",
        metavar="EPS",
        above=0,
        group="noise",
    )
    noise_ledger: Path | None = option(
        None,
        help="file that counts what was sent (default: in the platform's state folder)",
        metavar="FILE",
        group="noise",
    )
    noise_identity: str = option(
        "default", help="whose losses the ledger adds up", metavar="NAME", group="noise"
    )


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


@settings("client")
class ChatConfig(ReplyConfig):
    """Settings that only a chat has."""

    chats: Path | None = option(
        None,
        help="folder for saved chats (default: SPLIT_DATA, else the platform's data folder)",
        metavar="DIR",
        group="chat",
    )
    history: bool = option(
        True,
        help="keep what is typed, for the arrow keys of later chats, in a file of this user's",
        group="chat",
    )
    autosave: bool = option(False, help="save the chat after every reply", group="chat")
    context: str = option(
        "ask",
        help="what is left out when the context is full: ask, the oldest sentences, the "
        "dimmest (those that replies looked at least), or everything that is not pinned",
        choices=("ask", "oldest", "dimmest", "pinned"),
        group="chat",
    )
    context_budget: int | None = option(
        None,
        help="tokens of the chat that travel at most (default: as many as the model has)",
        minimum=64,
        maximum=1 << 31,
        group="chat",
    )
