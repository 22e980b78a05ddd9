"""Settings of one model where several are served, and the texts that name models."""

from __future__ import annotations

import re
from os.path import lexists
from pathlib import Path

from split_settings import BadValue, option, settings

ENGINES = ("auto", "torch", "llama")
DTYPES = ("auto", "float32", "bfloat16", "float16")
QUANTIZED = ("none", "int8", "int4", "auto")
LINEARS = ("auto", "packed", "plain")
NAMES = "1 to 64 letters, digits, '.', '_' or '-', and no dot at the beginning"
_NAME = re.compile(r"(?!\.)[A-Za-z0-9._-]{1,64}")
_MOST_LAYERS = 10_000


def stream_text(text: str) -> str:
    """``text`` as what ``--stream`` takes: auto, off, or a number. Raises ValueError."""
    given = text.strip().lower()
    if given in ("auto", "off"):
        return given
    if not given.isascii() or not given.isdigit() or not 1 <= int(given[:6]) <= _MOST_LAYERS:
        raise ValueError(f"{text!r} is neither auto, off nor a number of layers from 1 on")
    return str(int(given[:6]))


def is_name(text: str) -> bool:
    """Whether ``text`` can name a model."""
    return _NAME.fullmatch(text) is not None


def name_text(text: str) -> str:
    """``text`` as a model's name. Raises ValueError."""
    if not is_name(text):
        raise ValueError(f"{text!r} is no name of a model; it has {NAMES}")
    return text


def named_text(text: str) -> tuple[str | None, str]:
    """The name and the model in a text ``NAME=MODEL``; None and the text where it has no name: it
    exists as a path, or what is left of its sign is no name. Raises BadValue without a model.
    """
    name, sign, model = text.partition("=")
    if not sign or not is_name(name) or _exists(text):
        return None, text
    if not model:
        raise BadValue("--model", f"{text!r} names no model; write it like NAME=FOLDER")
    return name, model


def _exists(text: str) -> bool:
    try:
        return lexists(Path(text).expanduser())
    except (OSError, RuntimeError, ValueError):
        return False


@settings("server.models")
class ModelTable:
    """A table ``[[server.models]]``; what it leaves out is as in ``[server]``."""

    name: str = option("", help="the model's name in paths and requests", parse=name_text)
    model: str = option("", help="checkpoint folder, GGUF file or Hugging Face hub id")
    engine: str | None = option(None, help="as --engine", choices=ENGINES)
    dtype: str | None = option(None, help="as --dtype", choices=DTYPES)
    quantize: str | None = option(None, help="as --quantize", choices=QUANTIZED)
    stream: str | None = option(None, help="as --stream", parse=stream_text, numbers=True)
    linears: str | None = option(None, help="as --linears", choices=LINEARS)
    adapters: Path | None = option(None, help="as --adapters")


@settings("server")
class ModelConfig:
    """The model that is meant; shared by every command.

    ``model``: of a tuple each may have a name (``given_models``), a text is one model whatever is
    in it.
    """

    model: str | tuple[str, ...] | None = option(
        None,
        help="checkpoint folder, GGUF file or Hugging Face hub id (default: the embedded model); "
        "of several models each as NAME=MODEL, of which the first is loaded at the start and the "
        "others when somebody asks for them",
        metavar="[NAME=]MODEL",
        short="-m",
    )
    models: tuple[ModelTable, ...] = option(
        (),
        help="several models, each with settings of its own",
        tables=ModelTable,
        instead_of="model",
    )

    @property
    def path(self) -> str | None:
        """The one model as a text, None the embedded one; of several that of the first."""
        if isinstance(self.model, tuple):
            return self.model[0] if self.model else None
        return self.model
