"""The modes that are audited: split mode, fewer bits on the wire, noise of several strengths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from split_client.audit.attacks.knowledge import Mechanism
from split_client.audit.device.rows import ClearRows, NoisedRows, RowSource
from split_client.model.ends import DeviceEnds
from split_client.noise.calibration import Calibration
from split_privacy.mechanism import RowMechanism
from split_wire.tensor import WireDtype

Kind: TypeAlias = Literal["split", "fewer bits", "noised"]
DELTA = 1e-5
# Parts of the clipping norm.
SIGMAS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)


@dataclass(frozen=True, slots=True)
class Claim:
    """The promise of a noised mode at ``delta``."""

    release: RowMechanism
    delta: float = DELTA

    @property
    def mu(self) -> float:
        """Of one token that is replaced in a prompt that is sent once."""
        return self.release.mu

    def epsilon(self, tokens: int = 1) -> float:
        """Epsilon where so many tokens are replaced."""
        return self.release.epsilon(self.delta, tokens)


@dataclass(frozen=True, slots=True)
class Mode:
    """A way in which a device sends rows.

    ``dtype`` None is the server's own; ``claim`` None promises nothing.
    """

    name: str
    kind: Kind
    dtype: WireDtype | None
    rows: RowSource
    mechanism: Mechanism
    claim: Claim | None = None


def clear_modes(ends: DeviceEnds) -> list[Mode]:
    """Split mode in the server's own dtype, and in ones with fewer bits."""
    rows, none = ClearRows(ends), Mechanism()
    fewer: tuple[WireDtype, ...] = ("f16", "bf16", "i8")
    split = Mode("split", "split", None, rows, none)
    return [split, *(Mode(f"split {dtype}", "fewer bits", dtype, rows, none) for dtype in fewer)]


def noised_modes(
    ends: DeviceEnds,
    calibration: Calibration,
    epsilons: tuple[float, ...],
    sigmas: tuple[float, ...] = SIGMAS,
) -> list[Mode]:
    """Noise of ``sigmas`` times the clipping norm, and as much as ``epsilons`` of one token take.

    ``calibration``: the norm and the sensitivity that chats with noise have at this table.
    Raises InvalidPrivacyParameter for an epsilon that no noise gives.
    """
    clip, sensitivity = calibration.clip, calibration.sensitivity
    width = ends.manifest.hidden_size
    releases = [RowMechanism(part * clip, clip, sensitivity, width) for part in sigmas]
    releases += [
        RowMechanism.for_epsilon(epsilon, DELTA, clip, sensitivity, width) for epsilon in epsilons
    ]
    return [noised_mode(ends, release) for release in releases]


def noised_mode(ends: DeviceEnds, release: RowMechanism) -> Mode:
    """The mode that releases rows by ``release``."""
    return Mode(
        f"noised {release.sigma / release.clip:.2g} C",
        "noised",
        None,
        NoisedRows(ends, release),
        Mechanism(release.sigma, release.clip),
        Claim(release),
    )
