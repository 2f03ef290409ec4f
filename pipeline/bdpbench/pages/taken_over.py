"""Runs taken over from results with older run ids: their number, and a sentence about them."""

from __future__ import annotations

from collections.abc import Collection

from bdpbench.contracts.reports import KeptRun, TakenOverCounts
from bdpbench.contracts.runs import RunRecord


def count_taken_over(records: Collection[RunRecord] | Collection[KeptRun]) -> TakenOverCounts:
    """Count the runs taken over, and the runs of their kinds that were simulated again.

    A run that was simulated again counts as such, even if its old files are kept.
    """
    sources = [record["taken_over"] for record in records if "taken_over" in record]
    again = {run_id for source in sources for run_id in source["sample"]}
    return {
        "runs": sum("taken_over" in each and each["run_id"] not in again for each in records),
        "sample": sorted(again),
        "ns2_build_ids": sorted({source["build_id"] for source in sources}),
    }


def taken_over_sentence(records: Collection[RunRecord] | Collection[KeptRun]) -> str:
    """Which builds simulated the runs taken over, and what confirms their outputs; may be ""."""
    counts = count_taken_over(records)
    taken, sample = counts["runs"], counts["sample"]
    if not sample:
        return ""
    source = (
        "taken over from results with older run ids, which ns-2 build "
        f"{' and '.join(counts['ns2_build_ids'])} simulated"
    )
    if not taken:
        return (
            f"The {len(records)} runs are {source}: simulated again under the ids given here, all "
            "gave the same bytes."
        )
    return (
        f"{taken} of the {len(records)} runs are {source}: {len(sample)} runs of the same kinds, "
        f"simulated again under the ids given here, gave the same bytes, and the {taken} were not "
        "simulated again."
    )
