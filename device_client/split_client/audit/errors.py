"""Errors of the audit, a branch of the client's tree."""

from __future__ import annotations

from split_client.errors import ClientError


class AuditError(ClientError):
    """Base of the branch."""

    code = "audit_error"


class PromptsInvalid(AuditError):
    """A file of prompts that cannot be used."""

    code = "prompts_invalid"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"{path}: {reason}; it is a JSON list of objects with the texts 'text' and 'sensitive' "
            "(a list of parts of the text)"
        )


class RecordingInvalid(AuditError):
    """Recorded bytes that are not one conversation over ``split.v1``."""

    code = "recording_invalid"

    def __init__(self, reason: str) -> None:
        super().__init__(f"the recording cannot be read: {reason}; run the audit again")


class RecordingTooLarge(AuditError):
    """A conversation that does not fit into the memory set aside for recordings (bytes)."""

    code = "recording_too_large"

    def __init__(self, limit: int) -> None:
        super().__init__(f"one recorded conversation exceeds {limit} bytes; audit shorter prompts")


class PlotUnavailable(AuditError):
    """Drawing needs matplotlib, which the client is installed without."""

    code = "plot_unavailable"

    def __init__(self) -> None:
        super().__init__(
            "--plot needs matplotlib; install it with pip install 'gatelink[bench]', "
            "or leave --plot out"
        )


class TimeTooShort(AuditError):
    """Not one message was attacked in the ``minutes`` that were given."""

    code = "time_too_short"

    def __init__(self, minutes: float) -> None:
        super().__init__(
            f"nothing was measured in {minutes:g} minutes: this model or machine is slower than "
            "that; give --minutes more, or leave it out"
        )


class OutputFailed(AuditError):
    """A file of figures cannot be written."""

    code = "output_failed"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"cannot write {path}: {reason}; name a file in a folder that exists")
