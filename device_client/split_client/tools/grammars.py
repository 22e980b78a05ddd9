"""Grammars of calls for one model: from tools and the form of its calls to a constraint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from split_client.generation.constraint import Constraint
from split_client.tools.constraint import CallConstraint, CallTokens
from split_client.tools.families import CallForm
from split_client.tools.schema import ANY_OBJECT, call_schema
from split_client.tools.tool import Tool

MAX_CALLS = 16


class Spells(Protocol):
    """A tokenizer."""

    def encode(self, text: str) -> list[int]: ...

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str: ...


def call_tokens(tokenizer: Spells, rows: int, form: CallForm) -> CallTokens:
    """How ``tokenizer``, of a model with ``rows`` logits, spells calls of ``form``."""
    return CallTokens(
        rows,
        form.opens,
        () if form.bare else tuple(tokenizer.encode(form.opens[0] + form.lead)),
        tuple(tokenizer.encode(form.lead) if form.lead else ()),
        tuple(tokenizer.encode(form.trail + form.close) if form.close else ()),
        form.bare,
        lambda token: tokenizer.decode([token], skip_special_tokens=False),
        tokenizer.encode,
    )


def schema_of(
    tools: Sequence[Tool], form: CallForm, most: int, loose: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """The schema of what stands between the marks, ``most`` calls in a list; of ``loose`` tools any
    object will do.
    """
    rules: dict[str, Any] = {
        tool.name: ANY_OBJECT if tool.name in loose else dict(tool.parameters) for tool in tools
    }
    if form.several != "list":
        return call_schema(rules, form.keys)
    inner = call_schema(rules, form.keys, "#/items")
    return {"type": "array", "items": inner, "minItems": 1, "maxItems": most}


def calling(
    tokens: CallTokens,
    tools: Sequence[Tool],
    form: CallForm,
    compile_: Callable[[dict[str, Any]], Callable[[], Constraint]],
    refused: type[Exception] | tuple[type[Exception], ...],
    *,
    required: bool,
) -> CallConstraint:
    """The constraint of a reply with ``tools``; their schemas are compiled when a call begins, or
    at once where one is ``required``.

    A tool whose schema ``compile_`` refuses with one of ``refused`` may get any object, which is
    checked when it is called. Raises what compiling raises beside that.
    """

    most = 1 if required else MAX_CALLS

    def made() -> Callable[[], Constraint]:
        try:
            return compile_(schema_of(tools, form, most))
        except refused:
            loose = frozenset(tool.name for tool in tools if not _compiles(tool))
            return compile_(schema_of(tools, form, most, loose))

    def _compiles(tool: Tool) -> bool:
        try:
            compile_(schema_of([tool], form, most))
        except refused:
            return False
        return True

    def free() -> Constraint | None:
        try:
            return made()()
        # Without a grammar a call is what the model makes of it, and is checked all the same.
        except refused:
            return None

    if required:
        make = made()
        return CallConstraint(tokens, make, required=True)
    return CallConstraint(tokens, free, required=False)
