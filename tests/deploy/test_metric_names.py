"""The dashboard and the documentation name the metrics that a real server has, and all of them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

from split_wire.client import ClientProtocol
from tests.server_process import RunningServer, running_server

_ROOT = Path(__file__).parents[2]
_DASHBOARD = _ROOT / "deploy" / "grafana.json"
_OPERATIONS = _ROOT / "docs" / "operations.md"
_SELECTOR = re.compile(r"\b((?:split|process)_[a-z_]+)(?:\{([^}]*)\})?")
# What Prometheus adds to each sample.
_ADDED = {"job", "instance"}


@dataclass(frozen=True)
class Exposed:
    """Names of samples with their labels, and the names of families as they are documented."""

    labels: dict[str, set[str]]
    families: set[str]


@pytest.fixture(scope="module")
def exposed(tiny_path: Path) -> Exposed:
    """What a server exposes that has computed and refused something."""
    with running_server(tiny_path) as server:
        _use(server)
        with server.client() as client:
            text = client.get("/metrics").text
    families = list(text_string_to_metric_families(text))
    labels: dict[str, set[str]] = {}
    for sample in (sample for family in families for sample in family.samples):
        labels.setdefault(sample.name, set()).update(sample.labels)
    named = {f"{family.name}{'_total' * (family.type == 'counter')}" for family in families}
    return Exposed(labels, named)


def _use(server: RunningServer) -> None:
    device = ClientProtocol(server.parts.steps.info.hidden_size, server.manifest)
    device.receive(server.post(device.open()).content)
    rows = np.ones((2, server.parts.steps.info.hidden_size), np.float32)
    device.receive(server.post(device.step(0, rows)).content)
    with server.client() as client:
        assert client.get("/nothing").status_code == 404


def _dashboard() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(_DASHBOARD.read_text())
    return document


def _expressions() -> list[str]:
    panels = [panel for panel in _dashboard()["panels"] if panel["type"] != "row"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


def _label_names(matchers: str) -> set[str]:
    return set(re.findall(r"([a-z_]+)\s*(?:=~|!~|!=|=)\s*\"", matchers))


def test_every_metric_of_the_dashboard_exists_with_the_labels_it_is_asked_by(
    exposed: Exposed,
) -> None:
    expressions = _expressions()
    assert len(expressions) > 20
    for expression in expressions:
        selectors = _SELECTOR.findall(expression)
        assert selectors, expression
        grouped = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"by \(([^)]*)\)", expression))))
        for name, matchers in selectors:
            assert name in exposed.labels, expression
            known = exposed.labels[name] | _ADDED
            assert _label_names(matchers) | grouped <= known, expression


def test_legends_of_the_dashboard_name_labels_that_are_there(exposed: Exposed) -> None:
    for panel in _dashboard()["panels"]:
        for target in panel.get("targets", []):
            wanted = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            (name, _), *_ = _SELECTOR.findall(target["expr"])
            assert wanted <= exposed.labels[name], target


def test_every_metric_of_ours_is_on_the_dashboard(exposed: Exposed) -> None:
    text = " ".join(_expressions())
    ours = {name for name in exposed.families if name.startswith("split_")}
    assert len(ours) > 20
    assert {name for name in ours if name not in text} == set()


def test_panels_have_places_of_their_own() -> None:
    taken: set[tuple[int, int]] = set()
    numbers = set()
    for panel in _dashboard()["panels"]:
        at = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert max(x for x, _ in cells) < 24
        assert not cells & taken, panel["title"]
        taken |= cells
        numbers.add(panel["id"])
    assert len(numbers) == len(_dashboard()["panels"])


def test_the_documentation_names_every_metric_of_ours_and_no_other(exposed: Exposed) -> None:
    text = _OPERATIONS.read_text()
    ours = {name for name in exposed.families if name.startswith("split_")}
    table = set(re.findall(r"`(split_[a-z_]+)`", text)) - {"split_server"}
    assert table == ours
    (rules,) = re.findall(r"```yaml\n(groups:.*?)```", text, re.DOTALL)
    for name, matchers in _SELECTOR.findall(rules):
        assert name in exposed.labels, name
        assert _label_names(matchers) <= exposed.labels[name] | _ADDED, name
