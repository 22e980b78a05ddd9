"""The server's settings: flags, ``SPLIT_SERVER_*`` variables, the [server] table."""

from __future__ import annotations

from pathlib import Path

from split_server.serving.listen_config import (
    ACCESS,
    NETWORK,
    listen_address,
    ops_address,
)
from split_server.serving.settings.adapters import AdapterConfig
from split_server.serving.settings.kept import KeptConfig
from split_server.serving.settings.limits import LIMITS
from split_server.serving.settings.memory import MemoryConfig
from split_server.serving.settings.models import (
    DTYPES,
    ENGINES,
    LINEARS,
    QUANTIZED,
    ModelConfig,
    stream_text,
)
from split_server.serving.settings.replica import ReplicaConfig
from split_settings import option, settings


@settings("server")
class ComputeConfig(MemoryConfig, ModelConfig):
    """Device, dtype and memory for the model; shared by ``serve`` and ``plan``."""

    engine: str = option(
        "auto",
        help="what computes the layers: torch, or llama.cpp for a GGUF file as it is (the extra "
        "'llama'); auto is torch",
        choices=ENGINES,
    )
    dtype: str = option(
        "auto",
        help="compute dtype; auto keeps the checkpoint's",
        choices=DTYPES,
    )
    device: str = option("auto", help="torch device, such as cpu or cuda:0", metavar="DEVICE")
    quantize: str = option(
        "none",
        help="keep the matrices of the layers as int8 (half the bytes of bfloat16) or int4 (a "
        "third, for few sessions), which changes replies; auto changes nothing, and the log says "
        "which of them this machine would gain by",
        choices=QUANTIZED,
    )
    stream: str = option(
        "auto",
        help="layers that are read from disk in each pass, for a model larger than memory: their "
        "number, off, or auto: as few as needed where the model does not fit otherwise",
        metavar="auto|off|N",
        parse=stream_text,
    )
    stream_folder: Path | None = option(
        None,
        help="folder for the file of those layers, best on the fastest disk; default: the cache "
        "folder",
        metavar="DIR",
    )


@settings("server")
class ServerConfig(ComputeConfig, AdapterConfig, KeptConfig, ReplicaConfig):
    """Settings of ``split-server serve``. Times in seconds, sizes in bytes."""

    threads: int = option(
        0,
        help="threads of one matrix product; 0 chooses by the model's size and the free cores",
        minimum=0,
    )
    linears: str = option(
        "auto",
        help="order of matrices in memory: packed for the processor, plain, or auto: measured at "
        "the start",
        choices=LINEARS,
    )
    layers: str = option(
        "auto",
        help="what computes the decoder layers: the modules of their family, or auto: a plan of "
        "fewer operations where the start finds it the same and faster",
        choices=("modules", "auto"),
    )
    port: int = option(
        8095, help="port; 0 picks a free one", minimum=0, maximum=65535, group=NETWORK, short="-p"
    )
    ollama_listen: str | None = option(
        None,
        help="address and port on which only Ollama's API is served as well, such as "
        "127.0.0.1:11434, where its clients look for it",
        metavar="ADDRESS:PORT",
        parse=listen_address,
        group=NETWORK,
    )
    ops_listen: str | None = option(
        None,
        help="loopback or private address and port on which /health, /ready and /metrics alone "
        "are served as well, from before the model is loaded; beyond loopback /metrics asks for a "
        "token there",
        metavar="ADDRESS:PORT",
        parse=ops_address,
        group=NETWORK,
    )
    ops_targets: Path | None = option(
        None,
        help="folder where --ops-listen is named for Prometheus (file_sd) while this server runs",
        metavar="DIR",
        group=NETWORK,
    )
    lan: bool = option(
        False,
        help="be there for phones and laptops on the local network: every address, TLS, and a QR "
        "code that pairs the first device",
        group=NETWORK,
    )
    address_file: Path | None = option(
        None,
        help="file that this server writes its address to once it listens; 'split-server health' "
        "with the same settings reads it",
        metavar="FILE",
        group=NETWORK,
    )
    allow_server_tokenize: bool = option(
        False, help="tokenize for original clients, which shows the server the text", group=ACCESS
    )
    compat: bool = option(
        True,
        help="serve the OpenAI and Kobold APIs, whose requests show the server their text; "
        "--no-compat leaves them out",
        group=ACCESS,
    )
    web_root: str | None = option(
        None,
        help="folder of the built web app; none serves no page (default: what comes along)",
        metavar="FOLDER|none",
        group=ACCESS,
    )
    max_sessions: int = option(
        64, help="sessions in total", minimum=1, maximum=100_000, group=LIMITS
    )
    max_sessions_per_principal: int = option(
        32, help="sessions of one token", minimum=1, maximum=100_000, group=LIMITS
    )
    session_ttl: float = option(
        300.0,
        help="seconds after which an idle session is dropped",
        minimum=1,
        maximum=1e7,
        group=LIMITS,
    )
    cache_bytes: int = option(
        0,
        help="bytes of KV cache in total; 0 takes what the memory plan leaves",
        minimum=0,
        group=LIMITS,
    )
    cache_bytes_per_principal: int = option(
        0,
        help="bytes of KV cache of one token; 0 sets no limit of its own",
        minimum=0,
        group=LIMITS,
    )
    decode_stretch: float = option(
        1.9,
        help="times its usual time that a running chat may need per token while somebody "
        "else's prompt is processed",
        minimum=1.05,
        maximum=100,
        group=LIMITS,
    )
    request_seconds: float = option(
        0.0,
        help="seconds that a request of the OpenAI and Kobold APIs may take, 0: no limit",
        minimum=0,
        maximum=1e6,
        group=LIMITS,
    )
    max_tokens_ceiling: int = option(
        0,
        help="tokens that one reply of those APIs may have whatever is asked for, 0: what the "
        "context leaves",
        minimum=0,
        group=LIMITS,
    )
    text_drafts: str = option(
        "auto",
        help="guess the next tokens of the OpenAI and Kobold APIs' replies where that saves passes "
        "and nobody else waits; off also remembers no replies",
        choices=("auto", "off"),
    )
    keep: float = option(
        300.0,
        help="seconds after which a model that nobody uses is let go where several are served, -1: "
        "never, 0: with its last step; the first one stays",
        minimum=-1,
        maximum=1e7,
        group=LIMITS,
    )
    max_queued_steps: int = option(
        32, help="steps that one token may have under way", minimum=1, maximum=4096, group=LIMITS
    )
    max_queued_bytes: int = option(
        0,
        help="bytes of messages that one token may have under way; 0 takes four of the largest",
        minimum=0,
        group=LIMITS,
    )
    max_sockets: int = option(
        64, help="WebSockets that one token may have open", minimum=1, maximum=4096, group=LIMITS
    )
    shutdown_grace: float = option(
        20.0,
        help="seconds that steps under way get to finish when the server stops",
        minimum=0.1,
        maximum=3600,
        group=LIMITS,
    )
    drain_delay: float = option(
        0.0,
        help="seconds between SIGTERM and the stop, in which /ready answers 503, new sessions are "
        "refused and all others go on: so long as a balancer needs to notice",
        minimum=0,
        maximum=3600,
        group=LIMITS,
    )
