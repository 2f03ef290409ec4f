"""The words of the report: every metric and parameter that may occur in it has a name."""

from __future__ import annotations

from typing import Any

import pytest

from bdpbench.metrics import DEFINITIONS, definitions_for
from bdpbench.pages.inputs import read_captions
from bdpbench.pages.matrices import Matrix
from bdpbench.pages.names import Names
from bdpbench.pages.series import CHARTED_TABLES
from bdpbench.pages.texts import StudyPage, load_page
from bdpbench.studies.load import find_study, load_study, study_keys
from bdpbench.studies.vocabulary import COMMON


def test_every_metric_has_a_name() -> None:
    assert DEFINITIONS
    assert [each.metric for each in DEFINITIONS.values() if not each.title] == []


def test_every_parameter_has_a_name() -> None:
    # The tier gives the duration, and some follow from others; the rest is common to all studies.
    derived = {"bdp_pkts", "bottleneck_mbps_changes", "min_th_pkts", "max_th_pkts"}
    assert set(read_captions().parameters) == {*COMMON, *derived, "duration_s"}


@pytest.mark.parametrize("key", study_keys())
def test_a_study_names_its_own_parameters(key: str) -> None:
    assert set(_page(key).parameters) == set(load_study(key).parameters)


def _page(key: str) -> StudyPage:
    folder = find_study(key)
    metrics = {definition.metric for definition in definitions_for(folder).values()}
    return load_page(folder / "page.yaml", load_study(key), metrics)


def test_every_chart_has_its_words() -> None:
    charts = read_captions().charts
    for table in CHARTED_TABLES:
        assert set(charts[table]) == {"title", "quantity", "caption"}
    assert "caption" in charts["sweep"]


def test_a_metric_without_a_title_is_shown_by_its_id(inputs: Any) -> None:
    names = Names(inputs.plan, read_captions(), inputs.definitions)
    assert names.metric("new_metric") == "new metric"
    # As in its definition.
    assert names.metric("asymmetry") == "Asymmetry of the two flows"


def test_the_metrics_that_charts_ask_for_are_known() -> None:
    captions = read_captions()
    metrics = {definition.metric for definition in DEFINITIONS.values()}
    swept = {metric for each in captions.protocol_sweeps.values() for metric in each}
    pairs = Matrix.model_validate({"scenario": "any", **captions.pairs})
    assert pairs.points is not None
    assert swept | {pairs.metric, pairs.points.metric} <= metrics
    assert set(captions.protocol_sweeps) <= set(captions.parameters)
