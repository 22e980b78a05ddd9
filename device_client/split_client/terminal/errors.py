"""Errors of what a person gives a command::

ClientError
├── InputTooLong, InputNotText       of standard input, or of a file for /file
├── AttachmentRefused                a file that does not go with a message
└── DraftFileInvalid                 a file of --draft-file that cannot be one
"""

from __future__ import annotations

from split_client.errors import ClientError


class InputTooLong(ClientError):
    """More bytes on standard input than a prompt may have."""

    code = "input_too_long"

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"standard input has more than {limit >> 20} MB; give a part of it, "
            "with head -c for example"
        )


class InputNotText(ClientError):
    """Bytes that are no UTF-8."""

    code = "input_not_text"

    def __init__(self, source: str, at: int) -> None:
        super().__init__(
            f"{source} is not UTF-8 text (byte {at}); convert it first, with iconv for example"
        )


class AttachmentRefused(ClientError):
    """A file that cannot go with a message."""

    code = "attachment_refused"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")


class DraftFileInvalid(ClientError):
    """A file that no draft can be made of."""

    code = "draft_file_invalid"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"--draft-file {path}: {reason}")
