"""Recycles the buffers that keys and values lie in."""

from __future__ import annotations

import math
import mmap
import threading

import torch

# Pages of their own are rounding for smaller buffers.
_OWN_PAGES = 64 * 1024

Shape = tuple[int, ...]
_Kind = tuple[Shape, torch.dtype, torch.device]


class BufferPool:
    """Idle buffers by exact shape, dtype and device; usable from any thread.

    ``max_idle``: bytes that may wait here for their next user. ``poison`` fills given buffers with
    NaN, so that a test sees it when somebody reads rows that are not theirs.

    A taken buffer holds whatever was in it: whoever takes it reads only the rows that it wrote.
    """

    def __init__(self, max_idle: int, *, poison: bool = False) -> None:
        self._max_idle = max_idle
        self._poison = poison
        self._lock = threading.Lock()
        # The kind that was given least recently comes first.
        self._idle: dict[_Kind, list[torch.Tensor]] = {}
        self._idle_bytes = 0

    @property
    def max_idle(self) -> int:
        """Bytes that may wait here."""
        return self._max_idle

    @property
    def idle_bytes(self) -> int:
        """Bytes of the buffers that wait here."""
        return self._idle_bytes

    def take(self, shape: Shape, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        """A buffer with undefined contents, an idle one if there is one.

        Raises what torch and mmap raise when memory is short: RuntimeError, MemoryError, OSError.
        """
        kind = (shape, dtype, device)
        with self._lock:
            buffers = self._idle.get(kind)
            if buffers:
                buffer = buffers.pop()
                if not buffers:
                    del self._idle[kind]
                self._idle_bytes -= buffer.nbytes
                return buffer
        # A tensor made in inference mode could not be written to outside of it.
        with torch.inference_mode(False):
            return new_buffer(shape, dtype, device)

    def give(self, buffer: torch.Tensor) -> None:
        """Take a buffer back, or free it where it would exceed the bound."""
        if self._poison:
            buffer.fill_(float("nan"))
        kind = (tuple(buffer.shape), buffer.dtype, buffer.device)
        with self._lock:
            if self._idle_bytes + buffer.nbytes > self._max_idle:
                return
            buffers = self._idle.pop(kind, [])
            buffers.append(buffer)
            self._idle[kind] = buffers
            self._idle_bytes += buffer.nbytes

    def bound(self, max_idle: int) -> None:
        """Let at most ``max_idle`` bytes wait here from now on."""
        with self._lock:
            self._max_idle = max_idle
            self._drop_to(max_idle)

    def trim(self, size: int) -> None:
        """Free idle buffers until at least ``size`` bytes are freed or none is left."""
        with self._lock:
            self._drop_to(self._idle_bytes - size)

    def clear(self) -> None:
        """Free every idle buffer."""
        with self._lock:
            self._drop_to(0)

    def _drop_to(self, most: int) -> None:
        """Free buffers, least recently given kinds first, until ``most`` bytes are idle."""
        while self._idle and self._idle_bytes > most:
            kind = next(iter(self._idle))
            buffers = self._idle[kind]
            self._idle_bytes -= buffers.pop().nbytes
            if not buffers:
                del self._idle[kind]


def new_buffer(shape: Shape, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Memory that goes back to the system as soon as the buffer is freed.

    malloc keeps what is freed between two blocks in use, up to 32 MB each (mallopt(3),
    M_MMAP_THRESHOLD), and a budget that counts buffers would not be that of the process.
    """
    size = math.prod(shape) * dtype.itemsize
    if device.type != "cpu" or size < _OWN_PAGES:
        return torch.empty(shape, dtype=dtype, device=device)
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return torch.frombuffer(pages, dtype=dtype).view(shape)
