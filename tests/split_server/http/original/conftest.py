"""Served checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from split_server.adapters.adapter_file import AdapterFile
from split_server.original.experts.apply import Experts
from tests.split_server.http.original.setups import Setup


@pytest.fixture(scope="module")
def open_setup(tiny_path: Path) -> Iterator[Setup]:
    """With tokenizing allowed; sessions stay between the tests of this module."""
    matrices = np.zeros((1, 64), np.float32), np.zeros((64, 1), np.float32)
    banking = AdapterFile("banking", "", 1, 64, 1.0, *matrices, ("loan",), None, "")
    flags: dict[str, Any] = {"allow_tokenize": True, "experts": Experts({"banking": banking})}
    with Setup(tiny_path, **flags).serving() as setup:
        yield setup


@pytest.fixture
def setup(tiny_path: Path) -> Iterator[Setup]:
    """As the server starts by default."""
    with Setup(tiny_path).serving() as setup:
        yield setup
