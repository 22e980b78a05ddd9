"""A low-rank adapter on the model's device: ``h + scale * B (A h)`` after the final norm."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from split_server.adapters.adapter_file import AdapterFile


@dataclass(frozen=True, slots=True, eq=False)
class Delta:
    """``a`` [r, H] and ``b`` [H, r], float32."""

    a: torch.Tensor
    b: torch.Tensor
    scale: float

    @classmethod
    def of(cls, adapter: AdapterFile, device: torch.device | None = None) -> Delta:
        """The matrices of ``adapter`` on ``device`` (None: the CPU)."""
        # Copies, because torch wants writable memory.
        a, b = torch.from_numpy(adapter.a.copy()), torch.from_numpy(adapter.b.copy())
        return cls(a.to(device), b.to(device), adapter.scale)

    @torch.inference_mode()
    def __call__(self, hidden: torch.Tensor) -> torch.Tensor:
        """Hidden states [n, H] with the adapter applied, in their own dtype.

        Computed in float32: a difference of two bfloat16 sums would be mostly rounding.
        """
        wide = hidden.float()
        low = wide @ self.a.T
        return torch.addmm(wide, low, self.b.T, alpha=self.scale).to(hidden.dtype)
