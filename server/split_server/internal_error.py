"""A failure of the server itself: logged here under a reference, told to a client by it alone."""

from __future__ import annotations

import logging
import secrets

from split_wire.errors import InternalError

_log = logging.getLogger(__name__)


def internal_error() -> InternalError:
    """Log the exception at hand under a fresh reference; its text stays in the log."""
    error = InternalError(secrets.token_hex(4))
    _log.exception("%s", error)
    return error
