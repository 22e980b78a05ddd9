"""Ray Serve on one node, on loopback: ``one_node.py PORT FOLDER REPLICAS ARGUMENTS``.

ARGUMENTS: those of the application, as JSON. Says ``ready`` when they serve, and ends when its
input does. What Ray reads is in the environment.
"""

from __future__ import annotations

import json
import sys

import ray
from ray import serve

from split_server.deploy.ray import app

_STORE_BYTES = 80_000_000


def main() -> None:
    port, folder, replicas = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    given = json.loads(sys.argv[4])
    ray.init(
        num_cpus=1,
        include_dashboard=False,
        object_store_memory=_STORE_BYTES,
        _node_ip_address="127.0.0.1",
        _temp_dir=folder,
    )
    try:
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        small = app(given)._bound_deployment.options(
            num_replicas=replicas, ray_actor_options={"num_cpus": 0.1}
        )
        serve.run(small.bind(given), route_prefix="/")
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.read()
        serve.shutdown()
    finally:
        ray.shutdown()


if __name__ == "__main__":
    main()
