"""Checks of the routing id: whether it gets through, and leads to the same machine each time."""

from __future__ import annotations

from split_client.doctor.carriers import check_pong
from split_client.doctor.case import Case
from split_client.doctor.finding import Finding, ok, problem, warning
from split_client.doctor.refusals import refusal
from split_client.doctor.step import new_backend
from split_client.errors import ClientError


def check_routing(case: Case) -> Finding:
    """Whether frames get through with a routing id, which those of a chat have."""
    try:
        check_pong(case, case.carrier or "http", case.route)
    except ClientError as error:
        return problem(
            "routing",
            "routing_blocked",
            f"frames do not get through with a routing id: {getattr(error, 'reason', error)}",
            "have whatever is in between pass the query ?s= of /api/v1/split/stream and "
            "/api/v1/split/forward",
        )
    return ok("routing", "a routing id gets through")


def check_replica(case: Case) -> Finding:
    """Whether another connection with the same routing id reaches the same of several servers."""
    first = case.replica
    if first is None:
        return ok("replica", "the server does not name itself as one of several")
    backend = new_backend(case)
    try:
        backend.open()
        second = backend.replica
    except ClientError as error:
        return refusal("replica", error)
    finally:
        backend.close()
    if second == first:
        return ok("replica", f"{first} answers twice", replica=first)
    return warning(
        "replica",
        "replica_changes",
        f"two connections with the same routing id reach {first} and {second or 'an unnamed one'}",
        "have the balancer choose by the query parameter s; else a chat over HTTP loses its "
        "session, and what is computed again after a lost connection is more than needed",
        replica=first,
    )
