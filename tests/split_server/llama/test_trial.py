"""Models are tried by a process that may die."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from split_server.errors import EngineUnusable
from split_server.llama import trial
from split_server.llama.context import ContextOptions

_OPTIONS = ContextOptions(1024, 4, 128, 1)
_FILE = Path("middle.gguf")


def _codes(monkeypatch: pytest.MonkeyPatch, reordered: int, plain: int) -> None:
    def code(_: Path, options: ContextOptions) -> int:
        return reordered if options.reordered else plain

    monkeypatch.setattr(trial, "_code", code)


def test_what_runs_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    _codes(monkeypatch, 0, -signal.SIGKILL)
    assert trial.tried(_FILE, _OPTIONS) == _OPTIONS


def test_kernels_that_end_the_process_are_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    _codes(monkeypatch, -signal.SIGILL, 0)
    assert not trial.tried(_FILE, _OPTIONS).reordered


def test_a_library_that_always_ends_its_process_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _codes(monkeypatch, -signal.SIGILL, -signal.SIGSEGV)
    with pytest.raises(EngineUnusable, match=r"ended its process \(SIGSEGV\).*GGML_NATIVE=off"):
        trial.tried(_FILE, _OPTIONS)


def test_a_file_that_is_none_ends_the_trial_without_a_signal(tmp_path: Path) -> None:
    file = tmp_path / "middle.gguf"
    file.write_bytes(b"GGUF")
    assert trial._code(file, _OPTIONS) == 1
