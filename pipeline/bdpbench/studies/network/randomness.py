"""Whether anything in a run of ``tcl/network.tcl`` is random, so that repetitions can differ."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bdpbench.contracts.plan import PlannedRun
from bdpbench.studies.queues import QUEUE_KINDS
from bdpbench.studies.study import NETWORK_SCRIPT

_RANDOM_QUEUES = {kind.ns2_class for kind in QUEUE_KINDS.values() if kind.random}
_ABOVE_NOUGHT = re.compile(r"(\.loss_rate|\.within_s|\.jitter|[._]overhead_)$")
_QUEUE = re.compile(r"link\.\d+\.queue$")
_KIND = re.compile(r"background\.\d+\.kind$")


def draws(argv: Sequence[str]) -> bool:
    """Whether a run with these arguments draws random numbers that act on its packets.

    Beside those, ns-2 draws for each TCP sender how far its coarse clock is ahead, by which
    timeouts alone can differ.
    """
    pairs = zip(argv[::2], argv[1::2], strict=True)
    return any(_is_random(name, value) for name, value in pairs)


def _is_random(name: str, value: str) -> bool:
    if _QUEUE.search(name):
        return value in _RANDOM_QUEUES
    if _KIND.search(name):
        return value != "cbr"
    return bool(_ABOVE_NOUGHT.search(name)) and float(value) > 0


def remarks(runs: Iterable[PlannedRun]) -> list[str]:
    """What is to be said of repetitions that do not differ, a sentence a scenario."""
    substreams: dict[str, set[object]] = {}
    for run in runs:
        if run["script"] == NETWORK_SCRIPT and not draws(run["argv"]):
            found = substreams.setdefault(run["scenario"], set())
            found.add(run["parameters"].get("substream"))
    return [
        f"{scenario}: nothing in these runs is random, so that its {len(found)} substreams repeat "
        "the same packets; give flows start_within_s, or overhead_, for repetitions that differ"
        for scenario, found in substreams.items()
        if len(found) > 1
    ]
