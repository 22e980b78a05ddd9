"""``options`` of Ollama's requests as fields of OpenAI's."""

from __future__ import annotations

from typing import Any, Final

from split_server.compat.ollama.known import NEWLINE_REASON, NO_PENALTY, OPTIONS, WINDOWS_REASON
from split_server.compat.openai.errors import InvalidParameter, UnsupportedParameter
from split_server.compat.openai.fields import Fields, check_unread
from split_server.compat.openai.model import ServedModel
from split_server.compat.translating.renaming import Renames, renames

_MOST = 1 << 24
_WHOLE_WINDOW = -1
# Ollama: any number below 0 is as many as there is room for.
_LEAST = -2
_RANDOM_SEED = -1
_SAME = ("frequency_penalty", "min_p", "presence_penalty", "temperature", "top_k", "top_p")
_NAMES: Final = (*_SAME, "seed", "stop")
RENAMES: Final[Renames] = renames(
    (r"repetition_penalty_range", "options.repeat_last_n"),
    (r"repetition_penalty", "options.repeat_penalty"),
    (r"max_tokens", "options.num_predict"),
    *((rf"{name}\b", f"options.{name}") for name in _NAMES),
    (r"response_format.*", "format"),
)


def chat_fields(fields: Fields, served: ServedModel) -> dict[str, Any]:
    """What the field ``options`` asks for. Raises InvalidParameter, UnsupportedParameter.

    A temperature is not given a default here: without one, what the model's makers recommend
    holds.
    """
    options = fields.inner("options") or Fields({}, "options")
    check_unread(options, OPTIONS)
    penalty = options.number("repeat_penalty")
    window = options.whole("repeat_last_n", _WHOLE_WINDOW, _MOST)
    if window == 0:
        # A window of no tokens is no penalty.
        penalty = 1.0
    else:
        _check_windows(options)
    asked: dict[str, Any] = {name: options.raw(name) for name in _SAME}
    return asked | {
        "repetition_penalty": penalty,
        "repetition_penalty_range": window,
        "max_tokens": _tokens(options, served),
        "seed": _seed(options),
        "stop": options.raw("stop"),
    }


def _check_windows(options: Fields) -> None:
    """Of these penalties one alone knows a window, and none spares line ends."""
    given = {name: options.number(name) for name in NO_PENALTY}
    asked = {name for name, value in given.items() if value not in (None, NO_PENALTY[name])}
    if asked - {"repeat_penalty"} and options.raw("repeat_last_n") not in (None, _WHOLE_WINDOW):
        raise UnsupportedParameter(options.path("repeat_last_n"), WINDOWS_REASON)
    if not options.flag("penalize_newline", True) and asked:
        raise UnsupportedParameter(options.path("penalize_newline"), NEWLINE_REASON)


def _tokens(options: Fields, served: ServedModel) -> int:
    """The longest reply; as in Ollama, without a limit, as long as the context is."""
    limit = options.whole("num_predict", _LEAST, _MOST)
    if limit == 0:
        raise InvalidParameter(options.path("num_predict"), "a whole number, not 0")
    return served.max_context if limit is None or limit < 0 else limit


def _seed(options: Fields) -> Any:
    """One below 0 is any."""
    seed = options.raw("seed")
    is_whole = isinstance(seed, int) and not isinstance(seed, bool)
    return None if is_whole and seed <= _RANDOM_SEED else seed
