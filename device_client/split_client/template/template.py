"""A model's chat template.

A template is a program that came with the weights. Nothing inside an interpreter can stop ``10 **
10 ** 10`` or a string of a gigabyte, so it runs in a process of its own with a memory limit, which
is killed when its time is up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from split_client.confined.process import ConfinedProcess, Stopped
from split_client.errors import TemplateFailed, TemplateTooCostly

MAX_TEMPLATE = 1 << 20
MAX_OUTPUT = 4 << 20
MAX_SECONDS = 10.0
MAX_MEMORY = 512 << 20
# JSON writes one character as at most twelve bytes.
_MAX_ANSWER = 12 * MAX_OUTPUT + 1024


class ChatTemplate:
    """Renders messages to the text of a prompt; close it to end its process.

    ``variables``: what the template may use beside the messages, such as ``bos_token``.
    """

    def __init__(
        self,
        source: str,
        variables: Mapping[str, Any] | None = None,
        *,
        seconds: float = MAX_SECONDS,
        memory: int = MAX_MEMORY,
        longest: int = MAX_OUTPUT,
    ) -> None:
        if len(source) > MAX_TEMPLATE:
            raise TemplateTooCostly(f"it is longer than {MAX_TEMPLATE} characters")
        self._source = source
        self._variables = dict(variables or {})
        self._process = ConfinedProcess(
            "split_client.template.worker",
            [str(memory), str(longest)],
            seconds=seconds,
            most_answer=_MAX_ANSWER,
        )
        self._loaded = False

    @property
    def source(self) -> str:
        """The template itself."""
        return self._source

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = True,
        variables: Mapping[str, Any] | None = None,
    ) -> str:
        """The prompt's text. ``messages``, ``tools`` and ``variables`` hold what JSON can hold; of
        the latter none takes the place of the model's own.

        Raises TemplateFailed, TemplateTooCostly.
        """
        request = (
            dict(variables or {})
            | self._variables
            | {
                "messages": list(messages),
                "tools": None if tools is None else list(tools),
                "documents": None,
                "add_generation_prompt": add_generation_prompt,
            }
        )
        self.start()
        if not self._loaded:
            self._ask({"template": self._source})
            self._loaded = True
        return self._ask(request)

    def close(self) -> None:
        """End the process."""
        self._process.close()
        self._loaded = False

    def start(self) -> None:
        """Begin to start the process, so that the first :meth:`render` need not wait for it."""
        self._process.start()

    def _ask(self, request: dict[str, Any]) -> str:
        try:
            answer = self._process.ask(request)
        except Stopped as stopped:
            self.close()
            raise TemplateTooCostly(str(stopped)) from None
        match answer:
            case {"text": str(text)}:
                return text
            case {"failed": str(reason)}:
                self.close()
                raise TemplateFailed(reason)
            case {"too_costly": str(reason)}:
                self.close()
                raise TemplateTooCostly(reason)
        self.close()
        raise TemplateTooCostly("its process ended by itself")
