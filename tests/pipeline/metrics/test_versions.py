"""A hand-set version stands for one code; other versions are derived from the code."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.metrics import DEFINITIONS, Metric, definitions_for
from bdpbench.metrics.code import reached_code

FOLDER = Path(__file__).parent
REMEDY = (
    "a version stands for one reading: raise it in the decorator or, if the values mean what they "
    "meant, refresh the record:\n"
    "PYTHONPATH=pipeline python tests/pipeline/metrics/refresh_versions.py"
)


def _recorded_now() -> dict[str, str]:
    spec = importlib.util.spec_from_file_location("refresh", FOLDER / "refresh_versions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: dict[str, str] = module.recorded()
    return found


def test_the_code_of_a_version_is_the_one_that_was_recorded() -> None:
    before, now = json.loads((FOLDER / "versions.json").read_text()), _recorded_now()
    changed = sorted(
        each for each in before.keys() | now.keys() if before.get(each) != now.get(each)
    )
    assert not changed, f"{', '.join(changed)}: {REMEDY}"


def test_published_ids_are_what_they_were() -> None:
    # metrics.parquet of both published studies contains "utilization/1" and the like.
    assert {each.id for each in DEFINITIONS.values()} == {f"{name}/1" for name in DEFINITIONS}


MODULE = '''\
"""Words."""

import polars as pl

from bdpbench.metrics import FlowView, flow_metric, second_half
from bdpbench.metrics.series import mean

LEVEL_PKTS = 10.0


@flow_metric(
    unit="packets", title="", text="Words.", source="RFC 1", tables=("cwnd",), window=second_half,
)
def level(flow: FlowView) -> float | None:
    """What it is."""
    found = helper(flow)  # a comment
    return None if found is None else found - LEVEL_PKTS


def helper(flow: FlowView) -> float | None:
    return mean(flow.cwnd, "cwnd_pkts", second_half(flow))


def other() -> int:
    return 1


@flow_metric(unit="s", title="", text="Words.", source="RFC 1", tables=("cwnd",))
def second(flow: FlowView) -> float | None:
    return flow.cwnd["time_s"][-1]
'''

Changed = Callable[[Callable[[str], str]], Metric]


@pytest.fixture
def level_after(tmp_path: Path) -> Changed:
    """The metric ``level`` of a study's module after a change."""

    def load(change: Callable[[str], str]) -> Metric:
        text = change(MODULE)
        folder = tmp_path / str(abs(hash(text)))
        folder.mkdir()
        (folder / "metrics.py").write_text(text)
        found = definitions_for(folder)["level"]
        assert isinstance(found, Metric)
        return found

    return load


def test_without_a_version_the_id_follows_from_the_code(level_after: Changed) -> None:
    assert re.fullmatch(r"level/[0-9a-f]{12}", level_after(str).id)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("  # a comment", ""),
        ("What it is.", "What else it is."),
        ("\n\n\ndef other", "\n\n\n# A remark.\n\n\ndef other"),
        ("-> int:\n    return 1", "-> int:\n    return 2"),  # not used by it
        ('flow.cwnd["time_s"][-1]', 'flow.cwnd["time_s"][0]'),  # another metric
        ('text="Words."', 'text="Other words."'),
        ("def helper(flow: FlowView) -> float | None:", "def helper(flow):"),
        ("found - LEVEL_PKTS", "(\n        found - LEVEL_PKTS\n    )"),
    ],
)
def test_what_does_not_change_the_values_changes_no_id(
    level_after: Changed, before: str, after: str
) -> None:
    assert (
        level_after(lambda text: text.replace(before, after)).id
        == level_after(lambda text: text + "\n").id
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("found - LEVEL_PKTS", "found + LEVEL_PKTS"),  # its own code
        ('"cwnd_pkts", second_half(flow)', '"time_s", second_half(flow)'),  # code of a helper
        ("LEVEL_PKTS = 10.0", "LEVEL_PKTS = 11.0"),  # a constant
        ("window=second_half", "window=whole"),  # the window
        ('unit="packets"', 'unit="1"'),
        ('tables=("cwnd",), window', 'tables=("cwnd",), parameters=("rtt_ms",), window'),
    ],
)
def test_what_changes_the_values_changes_the_id(
    level_after: Changed, before: str, after: str
) -> None:
    def change(text: str) -> str:
        assert before in text
        return text.replace(before, after).replace("second_half\n", "second_half, whole\n", 1)

    assert level_after(change).id != level_after(str).id


def test_a_change_of_a_shared_helper_reaches_the_metrics_that_use_it_alone() -> None:
    reached = {
        each.metric: {name for _, name in reached_code([each.compute])}
        for each in DEFINITIONS.values()
        if isinstance(each, Metric)
    }

    def reaching(helper: str) -> set[str]:
        return {metric for metric, names in reached.items() if helper in names}

    # By hand: metrics whose text speaks of holding cwnd within 1 % over the last quarter.
    assert reaching("settling_time") == {"time_to_max_cwnd", "first_recovery_time"}
    assert reaching("time_reached_and_kept") == {"time_to_90pct_utilization_kept"}
    # All metrics that speak of cuts, and no others.
    speaking = {name for name in reached if "A cut is a fall of cwnd" in DEFINITIONS[name].text}
    assert reaching("find_cuts") == speaking
