"""Errors of the room::

    PrivacyError
    ├── InvalidPrivacyParameter   a number for which no guarantee is defined
    └── InvalidDerivation         something that noise cannot be bound to

``code`` is stable: programs compare it, people read the message.
"""

from __future__ import annotations


class PrivacyError(ValueError):
    """Base of the tree."""

    code: str = "privacy_error"


class InvalidPrivacyParameter(PrivacyError):
    """``field`` is the parameter's name, ``allowed`` its range in words."""

    code = "invalid_privacy_parameter"

    def __init__(self, field: str, value: object, allowed: str) -> None:
        self.field, self.allowed = field, allowed
        super().__init__(f"{field} = {value!r} is not allowed; {field} is {allowed}")


class InvalidDerivation(PrivacyError):
    """The message never shows the key."""

    code = "invalid_derivation"

    def __init__(self, reason: str) -> None:
        super().__init__(f"no noise can be derived: {reason}")
