"""The forms in which families of models write their calls, told by markers of the chat template.

Sources: the chat templates that come with Hermes 2 Pro, Qwen 2.5 and 3, Llama 3.1, Mistral 7B v0.3
and Small 3.2, Granite 3, Command R and Command R7B.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class CallForm:
    """``opens``: texts that begin a call, the first of them what is written where one is required.

    ``close``: what ends it; empty: the next beginning or the end of the reply. ``keys``: of name
    and arguments. ``several``: one call in each pair of marks, a list of them, or objects with
    semicolons between. ``lead``, ``trail``: white space inside of the marks. ``bare``: a reply may
    be calls and nothing else, without any mark. ``marks``: further texts that may be control
    tokens.
    """

    name: str
    opens: tuple[str, ...]
    close: str = ""
    keys: tuple[str, str] = ("name", "arguments")
    several: Literal["one", "list", "semicolons"] = "one"
    lead: str = ""
    trail: str = ""
    bare: bool = False
    marks: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts that mean something in a reply."""
        return tuple(text for text in (*self.opens, self.close, *self.marks) if text)


HERMES: Final = CallForm("hermes", ("<tool_call>",), "</tool_call>", lead="\n", trail="\n")
LLAMA: Final = CallForm(
    "llama", ("<|python_tag|>",), keys=("name", "parameters"), several="semicolons", bare=True
)
MISTRAL: Final = CallForm(
    "mistral", ("[TOOL_CALLS]",), several="list", marks=("[ARGS]", "[CALL_ID]")
)
GRANITE: Final = CallForm("granite", ("<|tool_call|>", "<tool_call>"), several="list")
COHERE: Final = CallForm(
    "cohere",
    ("Action: ```json", "Action:```json"),
    "```",
    keys=("tool_name", "parameters"),
    several="list",
    lead="\n",
    trail="\n",
)
COHERE_ACTION: Final = CallForm(
    "cohere-action",
    ("<|START_ACTION|>",),
    "<|END_ACTION|>",
    keys=("tool_name", "parameters"),
    several="list",
)
FAMILIES: Final = (HERMES, LLAMA, MISTRAL, GRANITE, COHERE, COHERE_ACTION)
# Texts with which templates put the results of tools into a chat.
RESULT_MARKS: Final = (
    "<tool_response>",
    "</tool_response>",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "<results>",
    "</results>",
    "<|START_TOOL_RESULT|>",
    "<|END_TOOL_RESULT|>",
)


def call_form_of(template: str) -> CallForm | None:
    """The form that ``template`` (its source) asks for; None where it knows no tools."""
    if "<|START_ACTION|>" in template:
        return COHERE_ACTION
    if "Action: ```json" in template or ("Action:" in template and "tool_name" in template):
        return COHERE
    for form in (MISTRAL, GRANITE, HERMES):
        if form.opens[0] in template:
            return form
    llama = "<|python_tag|>" in template or ("ipython" in template and '"parameters"' in template)
    return LLAMA if llama else None
