"""A form compiled on trial, in a process of its own with limits of memory and time.

What a form costs cannot be told from it, native code cannot be stopped, and a schema may be that of
a stranger's tool. A form that the process survived is compiled again in this one: the same work.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final, Protocol

from split_client.confined.messages import limit_memory, read_message, write_message
from split_client.confined.process import ConfinedProcess, Stopped
from split_client.grammar.errors import FormTooCostly, GrammarInvalid, refusal
from split_client.grammar.form import Form, document_of, form_in

MAX_SECONDS: Final = 10.0
# Of address space: the deep stack that compiling has, and a vocabulary of 256,000 tokens.
MAX_MEMORY: Final = 1 << 30
# Tokens of a reply in which the first mask and the first end are looked for.
_ROOM: Final = 1024
_MAX_ANSWER: Final = 1 << 16
_WORKER: Final = "split_client.grammar.trial"
# A thread for each processor would have a heap of its own within the limit.
_ENVIRON: Final = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "MALLOC_ARENA_MAX": "1",
}


class Process(Protocol):
    """Where a trial runs."""

    def start(self) -> None: ...

    def ask(self, request: dict[str, Any]) -> dict[str, Any]: ...

    def close(self) -> None: ...


def trial_process(seconds: float = MAX_SECONDS, memory: int = MAX_MEMORY) -> ConfinedProcess:
    """A process for one trial; ``memory``: bytes of address space."""
    return ConfinedProcess(
        _WORKER, [str(memory)], seconds=seconds, most_answer=_MAX_ANSWER, environ=_ENVIRON
    )


class Trial:
    """Begun at once, so that the process comes up while its caller does something else."""

    def __init__(
        self,
        source: tuple[str, int, frozenset[int]],
        form: Form,
        make: Callable[[], Process] = trial_process,
    ) -> None:
        """``source``: what a ``Vocabulary`` is made of."""
        text, rows, eos = source
        self._request = {"tokenizer": text, "rows": rows, "eos": sorted(eos)}
        self._request["form"] = document_of(form)
        self._process = make()
        self._process.start()

    def require_passed(self) -> None:
        """Raises what compiling raises; FormTooCostly where the process did not survive it."""
        try:
            answer = self._process.ask(self._request)
        except Stopped as stopped:
            raise FormTooCostly(f"{stopped}; make it simpler") from None
        finally:
            self.close()
        if "refused" in answer:
            raise refusal(str(answer.get("code")), str(answer["refused"]))

    def close(self) -> None:
        """End it, whether or not it was asked."""
        self._process.close()


def main() -> None:
    """Answer requests until standard input ends; whoever asks may kill it at any time."""
    limit_memory(int(sys.argv[1]))
    while (request := read_message(sys.stdin.buffer)) is not None:
        write_message(sys.stdout.buffer, _verdict(request))


def _verdict(request: dict[str, Any]) -> dict[str, Any]:
    from split_client.grammar.compiling import compiled_form
    from split_client.grammar.matching import with_deep_stack
    from split_client.grammar.vocabulary import readable_vocabulary

    try:
        form = form_in(request["form"])
        vocabulary = readable_vocabulary(
            request["tokenizer"], request["rows"], frozenset(request["eos"])
        )
        with_deep_stack(lambda: compiled_form(vocabulary, form))().allowed(_ROOM)
    except GrammarInvalid as error:
        return {"refused": error.reason, "code": error.code}
    except MemoryError:
        return {"refused": "it needs too much memory; make it simpler", "code": FormTooCostly.code}
    return {"passed": True}


if __name__ == "__main__":
    main()
