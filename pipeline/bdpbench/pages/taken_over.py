"""Where runs were taken over from results with older run ids: how many, and what readers learn."""

from __future__ import annotations

from collections.abc import Collection

from bdpbench.contracts.kept import KeptRun, TakenOverCounts
from bdpbench.contracts.runs import RunRecord


def count_taken_over(records: Collection[RunRecord] | Collection[KeptRun]) -> TakenOverCounts:
    """How many runs were taken over, and how many of their kinds were simulated again.

    A run that was simulated again counts as such, whosever files are kept of it.
    """
    sources = [record["taken_over"] for record in records if "taken_over" in record]
    again = {run_id for source in sources for run_id in source["sample"]}
    return {
        "runs": sum("taken_over" in each and each["run_id"] not in again for each in records),
        "sample": sorted(again),
        "ns2_build_ids": sorted({source["build_id"] for source in sources}),
    }


def taken_over_sentence(records: Collection[RunRecord] | Collection[KeptRun]) -> str:
    """Who simulated the runs that were taken over, and what shows their outputs; "" without any."""
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
