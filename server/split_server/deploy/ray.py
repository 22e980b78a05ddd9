"""Replicas as a deployment of Ray Serve: ``import_path: split_server.deploy.ray:app``.

The engine lives in the replica that requests come in at, so that a step passes no queue of Serve's.
Serve runs the web server: it is given the limits of :mod:`split_server.http.wire.bounds` before it
starts, which is once the constructor has returned.
https://docs.ray.io/en/releases-2.60.0/serve/
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

from ray import serve
from ray.serve import Application
from starlette.types import ASGIApp

from split_server.deploy.replica_settings import replica_settings
from split_server.engine.model.openmp import prepare_openmp
from split_server.http.wire.bounds import bound_uvicorn
from split_server.security.access import AccessPolicy, ConflictingAccess, access_policy
from split_server.serving.config import ServerConfig
from split_server.serving.logs import configure_logs
from split_wire.errors import ModelStopped

NAME: Final = "gatelink"
# Serve counts a WebSocket as a request as long as it is open; five is its default.
_MOST_SOCKETS = 1024
# A replica that does not answer is gone after three checks, each its period and its time to answer,
# and the grace that it does not use.
_GRACE_SECONDS = 5.0
_CHECK_PERIOD, _CHECK_WITHIN = 1.0, 2.0


class Replica:
    """A replica's process. ``given``: as :func:`app` takes it.

    Raises SettingsError and the errors of ``split_server.errors``.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        name = serve.get_replica_context().replica_id.unique_id
        config = replica_settings(given, os.environ, name)
        configure_logs(config.log_format, config.log_level)
        prepare_openmp()
        # Torch reads what was prepared when it is imported.
        from split_server.serving.app import build_app

        self._app = build_app(config, _policy(config))
        bound_uvicorn(self._app.max_message_bytes)

    def __serve_build_asgi_app__(self) -> ASGIApp:
        """What Serve runs, with its lifespan."""
        return self._app.asgi

    async def record_autoscaling_stats(self) -> dict[str, float]:
        """Sessions, and the load from 0 to 1: sockets say nothing of either."""
        sessions = len(self._app.parts.steps.store)
        return {"split_sessions": float(sessions), "split_load": self._app.load()}

    async def check_health(self) -> None:
        """Raises ModelStopped where only another process would help."""
        if self._app.condition.stopped():
            raise ModelStopped


def app(args: Mapping[str, Any]) -> Application:
    """The application with ``args`` as arguments: keys of the table [server].

    Raises SettingsError, DeploymentRefused.
    """
    # Told to whoever deploys, before any replica loads a model.
    replica_settings(args, os.environ)
    deployment = serve.deployment(
        serve.ingress()(Replica),
        name=NAME,
        max_ongoing_requests=_MOST_SOCKETS,
        graceful_shutdown_timeout_s=_GRACE_SECONDS,
        health_check_period_s=_CHECK_PERIOD,
        health_check_timeout_s=_CHECK_WITHIN,
    )
    bound: Application = deployment.bind(dict(args))
    return bound


def _policy(config: ServerConfig) -> AccessPolicy:
    """Who is let in: by a token, as everybody comes from the balancer's address.

    Raises ConflictingAccess, BadTokens.
    """
    if config.token is None and config.token_file is None:
        raise ConflictingAccess(
            "a replica in a cluster asks everybody for a token: name a file in token_file, or set "
            "SPLIT_SERVER_TOKEN where replicas run; devices do not pair here"
        )
    return access_policy(
        config.host,
        token=config.token,
        token_file=config.token_file,
        auth=config.auth,
        several=True,
    )
