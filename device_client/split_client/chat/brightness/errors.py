"""Errors of the brightness of a chat's tokens."""

from __future__ import annotations

from split_client.errors import ClientError


class BrightnessInvalid(ClientError):
    """A row of attention, or kept brightness, that is none."""

    code = "brightness_invalid"
