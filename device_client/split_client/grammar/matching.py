"""The grammar library's matcher of a form at the beginning of its texts, and whether it ends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

import llguidance

from split_client.grammar.errors import FormImpossible, GrammarInvalid
from split_client.grammar.vocabulary import Vocabulary

_T = TypeVar("_T")
# Of the parser, for one byte of a text: enough for the properties that a schema has room for.
_MAX_ITEMS: Final = 50_000
# The library compiles by recursion; the main thread's usual 8 MB hold some 300 nested objects.
_STACK_BYTES: Final = 128 * 2**20
_STACK_LOCK: Final = threading.Lock()


def first_matcher(
    vocabulary: Vocabulary, grammar: str, refused: Callable[[str], GrammarInvalid]
) -> llguidance.LLMatcher:
    """The matcher of ``grammar``, in the library's own form.

    Raises FormImpossible, and ``refused`` for what the library cannot follow.
    """
    limits = llguidance.LLParserLimits(
        max_items_in_row=_MAX_ITEMS, step_max_items=4 * _MAX_ITEMS, verbose_errors=False
    )
    matcher = llguidance.LLMatcher(vocabulary.tokenizer, grammar, log_level=0, limits=limits)
    _require_sound(matcher, refused)
    beginning = matcher.deep_copy()
    beginning.compute_bitmask()
    _require_sound(beginning, refused)
    return matcher


def with_deep_stack(work: Callable[[], _T]) -> _T:
    """Return or raise what ``work`` does on a thread of its own, with room for recursion."""
    with ThreadPoolExecutor(1) as pool, _STACK_LOCK:
        usual = threading.stack_size(_STACK_BYTES)
        try:
            result = pool.submit(work)
        finally:
            threading.stack_size(usual)
    return result.result()


def _require_sound(matcher: llguidance.LLMatcher, refused: Callable[[str], GrammarInvalid]) -> None:
    if not matcher.is_error():
        return
    reason = matcher.get_error()
    if "NoExtension" in reason:
        raise FormImpossible("no text satisfies it")
    if "nsatisfiable" in reason:
        raise FormImpossible(reason)
    raise refused(reason)


def is_forced_on(matcher: llguidance.LLMatcher, most: int) -> bool:
    """Whether the next ``most`` tokens are forced, and the text may end at none of them."""
    copy, made = matcher.deep_copy(), 0
    while made < most:
        tokens = [] if copy.is_stopped() or copy.is_accepting() else copy.compute_ff_tokens()
        made += len(tokens)
        # Where an end were allowed, no other token would be forced.
        if not tokens or (made < most and not copy.consume_tokens(tokens)):
            return False
    return True
