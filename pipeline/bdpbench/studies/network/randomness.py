"""Whether anything in a run of ``tcl/network.tcl`` is random, so that repetitions differ."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from bdpbench.contracts.plan import PlannedRun
from bdpbench.studies.queues import QUEUE_KINDS
from bdpbench.studies.study import NETWORK_SCRIPT, WEB_SCRIPT

_RANDOM_QUEUES = {kind.ns2_class for kind in QUEUE_KINDS.values() if kind.random}
_ABOVE_NOUGHT = re.compile(r"(\.loss_rate|\.within_s|\.jitter|[._]overhead_)$")
_QUEUE = re.compile(r"link\.\d+\.queue$")
_OF_SOURCE = re.compile(r"-background\.(\d+)\.(.+)")

_OF_WEB = ("page_pause", "page_objects", "object_pause", "object_size")
_OF_PACKMIME = ("request_size", "response_size", "server_pause")
_OF_PERSISTENT = ("connection_pages", "page_objects", "page_pause", "object_pause")
_LINKS_OF_HOSTS = ("server{}_mbps", "server{}_delay_ms", "client{}_mbps", "client{}_delay_ms")


def draws(argv: Sequence[str]) -> bool:
    """Whether a run with these arguments draws random numbers that affect its packets.

    In any case ns-2 draws the phase of each TCP sender's coarse clock, which affects timeouts only.
    """
    sources: dict[str, dict[str, str]] = {}
    for name, value in zip(argv[::2], argv[1::2], strict=True):
        if _is_random(name, value):
            return True
        found = _OF_SOURCE.fullmatch(name)
        if found:
            sources.setdefault(found[1], {})[found[2]] = value
    return any(map(_source_draws, sources.values()))


def _is_random(name: str, value: str) -> bool:
    if _QUEUE.search(name):
        return value in _RANDOM_QUEUES
    return bool(_ABOVE_NOUGHT.search(name)) and float(value) > 0


def _source_draws(source: Mapping[str, str]) -> bool:
    """Whether a background source draws more than its start and its jitter."""
    kind = source["kind"]
    if kind == "web":
        # The server of a page and the client of a session are drawn.
        several = source["servers"] != "1" or source["clients"] != "1"
        return several or _vary(source, _OF_WEB) or _links_vary(source)
    if kind == "packmime":
        return _packmime_draws(source)
    return kind != "cbr"


def _packmime_draws(source: Mapping[str, str]) -> bool:
    share = 0.0
    if source["http"] == "1.1":
        share = float(source.get("persistent_share", "0.5"))  # PackMime's own is between 0 and 1
    return (
        source.get("arrivals") != "constant"
        or _vary(source, _OF_PACKMIME)
        or 0 < share < 1
        or (share == 1 and (_vary(source, _OF_PERSISTENT) or _pages_vary(source)))
        or _links_vary(source)
    )


def _pages_vary(source: Mapping[str, str]) -> bool:
    """Whether it is random which pages have a single object."""
    alone = float(source["connection_pages_mean"]) <= 1
    return not alone and float(source.get("single_share", "0.5")) not in (0, 1)


def _vary(source: Mapping[str, str], quantities: Iterable[str]) -> bool:
    """Whether one of these quantities is random; ns-2's own distributions are."""
    return any(source.get(name) != "constant" for name in quantities)


def _links_vary(source: Mapping[str, str]) -> bool:
    return any(source[name.format("")] != source[name.format("_most")] for name in _LINKS_OF_HOSTS)


def remarks(runs: Iterable[PlannedRun]) -> list[str]:
    """Remarks on repetitions that do not differ, one sentence per scenario."""
    scenarios: dict[str, list[tuple[bool, object]]] = {}
    for run in runs:
        if run["script"] in (NETWORK_SCRIPT, WEB_SCRIPT):
            facts = (draws(run["argv"]), run["parameters"].get("substream"))
            scenarios.setdefault(run["scenario"], []).append(facts)
    return [remark for each in scenarios.items() for remark in _remarks(*each)]


def _remarks(scenario: str, runs: Sequence[tuple[bool, object]]) -> Iterator[str]:
    """A remark on the runs of a scenario, each given by whether it draws and its substream."""
    equal = [substream for drawing, substream in runs if not drawing]
    if len(set(equal)) > 1:
        which = "its runs" if len(equal) == len(runs) else f"{len(equal)} of its {len(runs)} runs"
        yield (
            f"{scenario}: nothing in {which} is random, so {len(set(equal))} substreams give the "
            "same packets; give flows start_within_s, or overhead_, for repetitions that differ"
        )
