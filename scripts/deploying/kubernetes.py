"""The manifest: valid for the cluster's schema, and the HAProxy in it for HAProxy."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from scripts.deploying.balancers import accepted_by_haproxy
from scripts.deploying.certificate import self_signed
from scripts.deploying.part import NotHere, passes, require
from scripts.paths import ROOT

_CERTIFICATE = "/etc/haproxy/gatelink.pem"
MANIFEST = ROOT / "deploy" / "kubernetes.yaml"


def check() -> str:
    """Against the newest schema that is installed. Raises PartFailed, NotHere."""
    require("kubernetes-validate", "pip install kubernetes-validate")
    passes(["kubernetes-validate", "--strict", str(MANIFEST)])
    version = passes(["kubernetes-validate", "--version"]).strip()
    return f"{len(documents())} objects, kubernetes-validate {version}"


def check_haproxy() -> str:
    """The configuration in the ConfigMap. Raises PartFailed, NotHere."""
    require("haproxy", "the package haproxy")
    with tempfile.TemporaryDirectory() as folder:
        certificate = str(self_signed(Path(folder)))
        accepted_by_haproxy(haproxy_text().replace(_CERTIFICATE, certificate), Path(folder))
    return "the ConfigMap's configuration"


def check_cluster() -> str:
    """Raises NotHere: nothing on this machine runs one."""
    raise NotHere("a cluster would be needed; the manifest is checked against its schema alone")


def documents() -> list[dict[str, Any]]:
    """The objects of the manifest."""
    return [one for one in yaml.safe_load_all(MANIFEST.read_text()) if one]


def haproxy_text() -> str:
    """haproxy.cfg as the ConfigMap has it."""
    (text,) = (
        one["data"]["haproxy.cfg"]
        for one in documents()
        if one["kind"] == "ConfigMap" and "haproxy.cfg" in one["data"]
    )
    found: str = text
    return found
