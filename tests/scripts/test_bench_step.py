"""The step benchmark: who does what in a round, what is told of it, what it is held to."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import pytest

from scripts.bench.beside.burners import Burners
from scripts.bench.peers.huge_pages import _ranges
from scripts.bench.processor import cpu_seconds
from scripts.bench.step.bars import bars
from scripts.bench.step.other import checkout_of, other_worker
from scripts.bench.step.pages import pages_of
from scripts.bench.step.programs import INT8, OURS, STOCK, llama_name
from scripts.bench.step.report import report
from scripts.bench.step.rounds import BUSY, PREFILL, takes_part, works
from tests.patience import until

_F16, _OTHER = llama_name("f16"), "commit 0123456789"
_MEGABYTE = 1 << 20


def _options(**changed: Any) -> argparse.Namespace:
    made = {"contexts": [512], "sessions": [1, 4], "steps": 2, "prefill": 128, "busy": 0}
    return argparse.Namespace(**{**made, **changed})


def _figures(times: dict[str, dict[str, float]], **changed: Any) -> dict[str, Any]:
    """Figures of two rounds in which each program took ``times``, by its works."""
    done = {
        name: {work: {"ms": [ms, ms], "cpu_ms": [2 * ms, 2 * ms]} for work, ms in each.items()}
        for name, each in times.items()
    }
    return {
        **vars(_options(**changed)),
        "rounds": [done, done],
        "threads": 1,
        "dtype": "bfloat16",
        "cosines": {name: 0.999 for name in times if name != STOCK},
        "facts": {name: {"linears": "packed"} for name in times},
        "pages": {name: {"anonymous": 3e6, "huge": 2e6, "mapped": 1e6} for name in times},
        **changed,
    }


def _verdicts(text: str) -> dict[tuple[str, str, str], str]:
    """The last column of a table of bars, by its first three."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    return {(row[0], row[1], row[2]): row[-1] for row in rows if len(row) == 7}


def test_a_bar_is_kept_up_to_what_is_wanted_and_missed_beyond() -> None:
    slow = {"context 512": 16.0, "sessions 4": 61.0, PREFILL: 40.0}
    fast = {"context 512": 10.0, "sessions 4": 100.0, PREFILL: 100.0}
    found = _verdicts(bars([_figures({OURS: slow, _F16: fast})]))
    pair = f"{OURS} / {_F16}"
    assert found[pair, "context 512", "1"] == "kept"
    assert found[pair, "sessions 4", "1"] == "missed"
    assert found[pair, PREFILL, "1"] == "kept"


def test_each_number_of_threads_has_its_own_bars() -> None:
    runs = [
        _figures({OURS: {"context 512": 15.0}, _F16: {"context 512": 10.0}}, threads=threads)
        for threads in (1, 2)
    ]
    found = _verdicts(bars(runs))
    assert found[f"{OURS} / {_F16}", "context 512", "1"] == "kept"
    assert found[f"{OURS} / {_F16}", "context 512", "2"] == "missed"


@pytest.mark.parametrize(("before", "verdict"), [(12.5, "kept"), (12.0, "missed")])
def test_another_commit_has_to_be_slower_by_so_much(before: float, verdict: str) -> None:
    figures = _figures({OURS: {"context 512": 10.0}, _OTHER: {"context 512": before}})
    assert _verdicts(bars([figures]))[f"{_OTHER} / {OURS}", "context 512", "1"] == verdict


@pytest.mark.parametrize(("ms", "verdict"), [(25.0, "kept"), (26.0, "missed")])
def test_steps_of_a_busy_machine_are_held_to_those_of_a_quiet_one(ms: float, verdict: str) -> None:
    figures = _figures({OURS: {"context 512": 10.0, BUSY: ms}}, busy=2)
    assert _verdicts(bars([figures]))[f"{OURS}: busy (2 others) / quiet", "context 512", "1"] == (
        verdict
    )


def test_a_report_tells_of_those_that_took_part_alone() -> None:
    ours = {"context 512": 20.0, "sessions 4": 30.0, PREFILL: 300.0}
    text = report([_figures({STOCK: {"context 512": 40.0, PREFILL: 600.0}, OURS: ours})])
    assert "| wall time, ms: median (least) | 1 session at 512 | 4 sessions at 512 |" in text
    assert f"| {STOCK} | 40.0 (40.0) |  | 600.0 (600.0) |" in text
    assert f"| {OURS} / {STOCK} | 0.50 x (0.50 to 0.50) |  | 0.50 x (0.50 to 0.50) |" in text
    assert f"| {OURS} | 3 MB | 2 MB | 1 MB |" in text
    assert "llama" not in text
    assert INT8 not in text


def test_peers_have_caches_of_one_length_and_the_stock_model_one_session() -> None:
    options = _options(contexts=[512, 2048])
    names = {
        program: [work.name for work in works(options) if takes_part(program, work, options)]
        for program in (STOCK, OURS, _F16)
    }
    assert names[OURS] == ["context 512", "context 2048", "sessions 4", PREFILL]
    assert names[STOCK] == ["context 512", "context 2048", PREFILL]
    assert names[_F16] == ["context 512", "sessions 4", PREFILL]


def test_a_round_may_go_without_a_prefill() -> None:
    options = _options(prefill=0)
    assert [work.name for work in works(options)] == ["context 512", "sessions 4"]
    text = report([_figures({OURS: {"context 512": 20.0, "sessions 4": 30.0}}, prefill=0)])
    assert "prefill" not in text


def test_a_checkout_is_named_by_its_folder_or_its_interpreter(tmp_path: Path) -> None:
    python = tmp_path / ".venv" / "bin" / "python"
    assert checkout_of(tmp_path) == tmp_path
    assert checkout_of(python) == tmp_path


def test_a_checkout_without_a_known_worker_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no worker"):
        other_worker(tmp_path, tmp_path, "float32", 1)


def test_burners_use_a_processor_while_they_are_let() -> None:
    with Burners(1) as burners:
        (pid,) = burners.pids
        with burners.burning():
            before = cpu_seconds(pid)
            until(lambda: cpu_seconds(pid) - before > 0.02)
        # The thread that burned is gone.
        until(lambda: len(list(Path(f"/proc/{pid}/task").iterdir())) == 1)
    assert not Path(f"/proc/{pid}").exists()


def test_only_whole_huge_pages_of_large_private_memory_are_asked_for() -> None:
    maps = "\n".join(
        (
            "7f0000000000-7f0000600000 rw-p 00000000 00:00 0 ",
            "7f0000a01000-7f0001000000 rw-p 00000000 00:00 0                  [heap]",
            "7f0002000000-7f0002001000 rw-p 00000000 00:00 0 ",
            "7f0003000000-7f0003800000 r--p 00000000 fe:00 77                 /model.gguf",
            "7f0004000000-7f0004800000 rw-p 00000000 fe:00 77                 /library.so",
            "7ffd00000000-7ffd00400000 rw-p 00000000 00:00 0                  [stack]",
        )
    )
    assert list(_ranges(maps)) == [
        (0x7F0000000000, 0x7F0000600000),
        (0x7F0000C00000, 0x7F0001000000),
    ]


def test_the_pages_of_a_process_are_told() -> None:
    pages = pages_of(os.getpid())
    assert pages["anonymous"] > _MEGABYTE
    assert pages["mapped"] > _MEGABYTE
    assert 0 <= pages["huge"] <= pages["anonymous"]
