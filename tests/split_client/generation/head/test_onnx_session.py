import sys

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
