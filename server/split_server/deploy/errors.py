"""Errors of a deployment."""

from __future__ import annotations

from split_server.errors import ServerError


class DeploymentRefused(ServerError):
    """Settings that a host of the application cannot keep, or lacks."""

    code = "deployment_refused"
