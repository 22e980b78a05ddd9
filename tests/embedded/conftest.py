"""The committed checkpoint, loaded once with plain transformers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from scripts.demo_model.chat import Chat
from scripts.demo_model.embedded import ADAPTER, EMBEDDED
from scripts.demo_model.training.adapter import Adapter, load_adapter


@pytest.fixture(scope="session")
def chat() -> Iterator[Chat]:
    """The committed checkpoint in float32, on at most two threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(min(2, threads))
    yield Chat(EMBEDDED)
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def banking() -> Adapter:
    """The committed banking adapter."""
    return load_adapter(EMBEDDED / ADAPTER)
