import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from split_client.generation.head import onnx_session
from split_client.generation.head.onnx_session import default_threads, onnxruntime_available


def test_the_default_is_at_most_two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_session.os, "cpu_count", lambda: 64)
    assert default_threads() == 2
    monkeypatch.setattr(onnx_session.os, "cpu_count", lambda: None)
    assert default_threads() == 1


def test_a_machine_without_onnxruntime_is_told_from_one_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert onnxruntime_available()
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert not onnxruntime_available()


def test_onnxruntime_keeps_and_reports_nothing_about_the_device(tmp_path: Path) -> None:
    program = (
        "from split_client.generation.head.onnx_session import session_options; session_options(1)"
    )
    environ = {name: value for name, value in os.environ.items() if "ORT_" not in name}
    environ |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", program], env=environ, check=True, timeout=120)
    assert list(tmp_path.rglob("*")) == []


def test_onnxruntime_is_imported_in_one_place() -> None:
    root = Path(__file__).parents[4]
    importing = re.compile(r"^\s*(import|from) onnxruntime", re.MULTILINE)
    places = ("common", "device_client", "relay", "scripts", "server")
    files = [file for place in places for file in (root / place).rglob("*.py")]
    found = [file.name for file in files if importing.search(file.read_text(encoding="utf-8"))]
    assert found == ["onnx_session.py"]
