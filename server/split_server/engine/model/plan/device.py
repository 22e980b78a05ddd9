"""The parts of a plan for the device that its module is on."""

from __future__ import annotations

import torch

from split_server.engine.model.plan.parts import PLAIN, Parts


def parts_for(device: torch.device) -> Parts:
    """Those that compute on ``device``. Raises ImportError where it is a CUDA device and there is
    no Triton.
    """
    if device.type != "cuda":
        return PLAIN
    # Triton comes with builds of torch for CUDA alone.
    from split_server.engine.model.plan.fused.parts import FUSED

    return FUSED
