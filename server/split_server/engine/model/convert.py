"""Between wire tensors and torch tensors."""

from __future__ import annotations

import numpy as np
import torch

from split_wire.errors import HiddenOverflow, NonFinite
from split_wire.tensor import Tensor, WireDtype

TORCH_DTYPES: dict[str, torch.dtype] = {
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
}
WIRE_NAMES: dict[torch.dtype, WireDtype] = {
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
}


def to_torch(tensor: Tensor, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Rows of the wire as a [n, H] tensor of the compute dtype."""
    if tensor.dtype == "i8":
        values = torch.from_numpy(tensor.to_f32())
    else:
        # A copy, because torch wants writable memory and the frame is read-only.
        buffer = bytearray(tensor.data)
        values = torch.frombuffer(buffer, dtype=TORCH_DTYPES[tensor.dtype]).view(tensor.shape)
    return values.to(device=device, dtype=dtype)


def to_wire(hidden: torch.Tensor, dtype: WireDtype) -> Tensor:
    """Hidden states [n, H] as a wire tensor of ``dtype``. Raises HiddenOverflow."""
    try:
        return _encoded(hidden.cpu().contiguous(), dtype)
    except NonFinite as error:
        raise HiddenOverflow from error


def _encoded(hidden: torch.Tensor, dtype: WireDtype) -> Tensor:
    shape = (hidden.shape[0], hidden.shape[1])
    if dtype == "i8":
        return Tensor.from_f32(hidden.float().numpy(), dtype)
    raw = hidden.to(TORCH_DTYPES[dtype]).view(torch.uint8).numpy()
    tensor = Tensor(dtype, shape, np.ascontiguousarray(raw).tobytes())
    tensor.require_finite()
    return tensor
