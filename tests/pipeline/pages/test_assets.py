"""The report's words: every metric and parameter that it can meet has a name."""

from __future__ import annotations

from bdpbench.metrics import DEFINITIONS
from bdpbench.pages.assets import read_captions
from bdpbench.pages.matrices import Matrix
from bdpbench.pages.series import CHARTED_TABLES
from bdpbench.pages.study_page import StudyPage, load_page
from bdpbench.studies.load import find_study, load_study, study_keys
from bdpbench.studies.study import Parameters


def test_every_metric_has_a_name() -> None:
    metrics = {definition.metric for definition in DEFINITIONS.values()}
    assert set(read_captions().metrics) == metrics


def test_every_parameter_has_a_name() -> None:
    # bdp_pkts is derived, the others come from study.yaml; those of single studies from page.yaml.
    common = set(read_captions().parameters)
    own = {name for key in study_keys() for name in _page(key).parameters}
    assert not common & own
    assert common | own >= {*Parameters.model_fields, "bdp_pkts"}


def _page(key: str) -> StudyPage:
    metrics = {definition.metric for definition in DEFINITIONS.values()}
    return load_page(find_study(key) / "page.yaml", load_study(key), metrics)


def test_every_chart_has_its_words() -> None:
    charts = read_captions().charts
    for table in CHARTED_TABLES:
        assert set(charts[table]) == {"title", "quantity", "caption"}
    assert "caption" in charts["sweep"]


def test_an_unknown_metric_is_shown_by_its_id() -> None:
    assert read_captions().metric("new_metric") == "new metric"


def test_the_metrics_that_charts_ask_for_are_known() -> None:
    captions = read_captions()
    metrics = {definition.metric for definition in DEFINITIONS.values()}
    swept = {metric for each in captions.protocol_sweeps.values() for metric in each}
    pairs = Matrix.model_validate({"scenario": "any", **captions.pairs})
    assert pairs.points is not None
    assert swept | {pairs.metric, pairs.points.metric} <= metrics
    assert set(captions.protocol_sweeps) <= set(captions.parameters)
