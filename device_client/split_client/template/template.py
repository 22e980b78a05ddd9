"""A model's chat template.

A template is a program that came with the weights. Nothing inside an interpreter can stop ``10 **
10 ** 10`` or a string of a gigabyte, so it runs in a process of its own with a memory limit, which
is killed when its time is up.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from split_client.errors import TemplateFailed, TemplateTooCostly
from split_client.template.worker import read_message, write_message

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
        self._seconds, self._memory, self._longest = seconds, memory, longest
        self._process: subprocess.Popen[bytes] | None = None
        self._loaded = False

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = True,
    ) -> str:
        """The prompt's text. ``messages`` and ``tools`` hold what JSON can hold.

        Raises TemplateFailed, TemplateTooCostly.
        """
        request = self._variables | {
            "messages": list(messages),
            "tools": None if tools is None else list(tools),
            "documents": None,
            "add_generation_prompt": add_generation_prompt,
        }
        self.start()
        if not self._loaded:
            self._ask({"template": self._source})
            self._loaded = True
        return self._ask(request)

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        self._loaded = False
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()

    def start(self) -> None:
        """Begin to start the process, so that the first :meth:`render` need not wait for it."""
        if self._process is not None:
            return
        # -P: a module in the current folder must not be imported in place of an installed one.
        command = [sys.executable, "-P", "-m", "split_client.template.worker"]
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [*command, str(self._memory), str(self._longest)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Ctrl-C in the terminal is for the chat, which then decides about its processes.
            start_new_session=True,
        )

    def _ask(self, request: dict[str, Any]) -> str:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise RuntimeError("the template's process is not running")
        expired = threading.Event()
        watchdog = threading.Timer(self._seconds, _kill, (process, expired))
        watchdog.daemon = True
        watchdog.start()
        try:
            write_message(process.stdin, request)
            answer = read_message(process.stdout, _MAX_ANSWER)
        except (BrokenPipeError, ValueError):
            answer = None
        except BaseException:
            self.close()
            raise
        finally:
            watchdog.cancel()
        return self._text(answer, expired.is_set())

    def _text(self, answer: dict[str, Any] | None, expired: bool) -> str:
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
        if expired:
            raise TemplateTooCostly(f"it took longer than {self._seconds:g} s")
        raise TemplateTooCostly("its process ended by itself")


def _kill(process: subprocess.Popen[bytes], expired: threading.Event) -> None:
    expired.set()
    process.kill()
