"""How two flows of one protocol share a link: the numbers of all studies in one unit.

Studies print asymmetries, Jain's indices and ratios. For two flows each of these follows from any
other, so all are expressed as the smaller throughput over the larger one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from bdpbench.contracts.atlas import SharePoint
from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.scorecard import rows_of
from bdpbench.score.atlas.conditions import rtts_of
from bdpbench.score.atlas.entries import Material
from bdpbench.score.atlas.verdicts import Source, metric_of
from bdpbench.studies.atlas import ShareMeasure

What = Literal["printed", "measured"]


def smallest_over_largest(measure: ShareMeasure, value: float) -> float:
    """The smaller throughput of two flows over the larger.

    An asymmetry is (x - y) / (x + y); Jain's index of x and y is (x + y)² / (2 (x² + y²)), and with
    the asymmetry A it is 1 / (1 + A²).

    Args:
        measure: the kind of value.
        value: the value.

    >>> smallest_over_largest("asymmetry", -0.6), smallest_over_largest("jain_index", 1.0)
    (0.25, 1.0)
    """
    if measure == "smallest_over_largest":
        return value
    uneven = abs(value) if measure == "asymmetry" else math.sqrt(max(0.0, 1 / value - 1))
    return (1 - uneven) / (1 + uneven)


def share_points(
    material: Material, sources: Sequence[Source], shares: Mapping[str, ShareMeasure]
) -> list[SharePoint]:
    """Every printed and every measured share of two flows of one protocol of a study.

    Printed lower bounds are not shares. The measured shares are the values by which numbers and
    statements were judged; of equivalent metrics of a run, one is kept.

    Args:
        material: material of the study.
        sources: its scorecards.
        shares: metric → how it expresses the shares of two flows.
    """
    found: dict[tuple[What, str, float], SharePoint] = {}
    runs = material.runs.by_id()
    for what, metric, run_id, value in [
        *_printed(material, shares),
        *_measured(sources, shares),
    ]:
        run = runs.get(run_id)
        point = None if run is None else _point(material, what, shares[metric], run, value)
        if point is not None:
            found.setdefault((what, run_id, point["ratio"]), point)
    return list(found.values())


_Value = tuple[What, str, str, float]


def _printed(material: Material, shares: Mapping[str, ShareMeasure]) -> Iterator[_Value]:
    where = str(material.member.study.folder)
    for number in material.expected.numbers:
        if number.metric in shares and number.lower < number.value:
            _, runs = material.runs.find([number], where)
            for run in runs[:1]:
                yield "printed", number.metric, run["run_id"], number.value


def _measured(sources: Iterable[Source], shares: Mapping[str, ShareMeasure]) -> Iterator[_Value]:
    for source in sources:
        for number in source.scorecard["numbers"]:
            for row in rows_of(number) if number["metric"] in shares else ():
                if row["measured"] is not None and row["run_ids"]:
                    yield "measured", number["metric"], row["run_ids"][0], row["measured"]
        for claim in source.scorecard["claims"]:
            for each in claim["evidence"]:
                if metric_of(each) in shares and each["value"] is not None:
                    yield "measured", metric_of(each), each["run_id"], each["value"]


def _point(
    material: Material, what: What, measure: ShareMeasure, run: PlannedRun, value: float
) -> SharePoint | None:
    """A point of a run; None if its flows are not two of one protocol."""
    rtts = rtts_of(run)
    if len(run["protocols"]) != 1 or not rtts or len(rtts) > 2:
        return None
    study, (key,) = material.member.study, run["protocols"]
    return {
        "study": study.key,
        "protocol": material.member.said.known_as[key],
        "sender": study.protocols[key].label,
        "what": what,
        "rtt_ratio": round(max(rtts) / min(rtts), 3),
        "ratio": round(min(1.0, max(0.0, smallest_over_largest(measure, value))), 4),
        "told": run["label"],
    }
