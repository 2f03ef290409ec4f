"""The conditions of an entry: the parameters of the runs that have to show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from bdpbench.contracts.atlas import Conditions
from bdpbench.contracts.plan import PlannedRun, Scalar, values_of
from bdpbench.errors import BdpbenchError
from bdpbench.score.lookup import Asked, RunIndex
from bdpbench.studies.flows import format_value
from bdpbench.studies.labels import swept_names
from bdpbench.studies.network.defaults import NETWORK_DEFAULTS
from bdpbench.studies.runs import Identities, expand_tier, tiers_of
from bdpbench.studies.study import NETWORK_SCRIPT, Study
from bdpbench.studies.vocabulary import PROTOCOL_PARAMETERS

# A study's own conditions are those of its paper tier; other tiers have what that leaves out.
_TIERS = ("paper", "full", "quick")
_FLOWS_ARGUMENT = "-flows"
_SHARE_DIGITS = 2

# Parameters that have a condition of their own, and parameters that say nothing about the path.
_TOLD = frozenset(
    {
        *PROTOCOL_PARAMETERS,
        *("bottleneck_mbps", "rtt_ms", "rtt_1_ms", "rtt_2_ms", "buffer_pkts", "buffer_bdp"),
        *("queue", "flows", "substream", "bottleneck_delay_ms", "access_delay_ms"),
        *("access_delay_1_ms", "access_delay_2_ms", "access_mbps", "trace"),
    }
)
_ALSO_TOLD = ("flow2_start_s", "loss_rate")


class StudyRuns:
    """The planned runs of a study, found by selectors; a tier is expanded when it is needed.

    Args:
        study: the study of the runs.
    """

    def __init__(self, study: Study) -> None:
        self.study = study
        has = tiers_of(study)
        self._tiers = [tier for tier in _TIERS if tier in has]
        self._identities = Identities()
        self._runs: dict[str, list[PlannedRun]] = {}
        self._indexes: dict[str, RunIndex] = {}

    def find(self, asked: Sequence[Asked], where: str) -> tuple[str, list[PlannedRun]]:
        """The first tier with a requested run, and all requested runs in it, each once.

        Raises:
            BdpbenchError: for an unknown scenario or parameter, and if no tier has such a run.
        """
        for tier in self._tiers:
            index = self._index(tier)
            every = [run for each in asked for run in index.find(each, where)]
            if every:
                return tier, list({(run["scenario"], run["run_id"]): run for run in every}.values())
        message, hint = self._index(self._tiers[0]).why_none(asked[0])
        raise BdpbenchError(message, where=where, hint=hint)

    def by_id(self) -> dict[str, PlannedRun]:
        """Run id → run, for the tiers that were expanded so far."""
        return {run["run_id"]: run for runs in self._runs.values() for run in runs}

    def _index(self, tier: str) -> RunIndex:
        if tier not in self._indexes:
            self._runs[tier] = expand_tier(self.study, tier, self._identities)
            self._indexes[tier] = RunIndex(self.study.scenarios, self._runs[tier])
        return self._indexes[tier]


def conditions_of(
    study: Study, fixed: Mapping[str, Scalar], tier: str, runs: Sequence[PlannedRun]
) -> Conditions:
    """What some runs of a study have in common and where they differ.

    Args:
        study: the study of the runs.
        fixed: parameters that its scripts fix without taking them.
        tier: the tier of the runs.
        runs: the runs, each once.
    """
    return {
        "scenarios": _once(study.scenarios[run["scenario"]].title for run in runs),
        "bottleneck_mbps": _numbers("bottleneck_mbps", runs),
        "rtts_ms": _rtts(runs),
        "buffer_pkts": _numbers("buffer_pkts", runs),
        "buffer_bdp": sorted({share for run in runs for share in _shares(run)}),
        "queues": _once(filter(None, (_queue(study, fixed, run) for run in runs))),
        "flows": sorted({count for run in runs if (count := _flow_count(run)) is not None}),
        "other": list(_others(study, runs)),
        "runs": len(runs),
        "tier": tier,
    }


def rtts_of(run: PlannedRun) -> list[float]:
    """RTTs of the flows of a run, ms; a single one if all are equal, none if unknown."""
    told = run["parameters"]
    own = [float(told[name]) for name in _numbered_rtts(told)]
    if len(own) == 1:  # the first flow may have only the RTT of the run
        own.insert(0, float(told.get("rtt_ms", own[0])))
    if not own and "rtt_ms" in told:
        own = [float(told["rtt_ms"])]
    return own[:1] if len(set(own)) == 1 else own


def _numbered_rtts(told: Mapping[str, Scalar]) -> Iterator[str]:
    number = 1
    while f"rtt_{number}_ms" in told or f"rtt_{number + 1}_ms" in told:
        if f"rtt_{number}_ms" in told:
            yield f"rtt_{number}_ms"
        number += 1


def _once(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


def _numbers(name: str, runs: Iterable[PlannedRun]) -> list[float]:
    found = {run["parameters"][name] for run in runs if name in run["parameters"]}
    return sorted(float(each) for each in found)


def _rtts(runs: Iterable[PlannedRun]) -> list[list[float]]:
    return [list(each) for each in sorted({tuple(rtts_of(run)) for run in runs}) if each]


def _shares(run: PlannedRun) -> list[float]:
    """Shares of the BDP that a run's buffer corresponds to, as given or computed."""
    given = [float(each) for each in values_of(run, "buffer_bdp")]
    told = run["parameters"]
    if given or "buffer_pkts" not in told or not told.get("bdp_pkts"):
        return given
    return [float(f"{float(told['buffer_pkts']) / float(told['bdp_pkts']):.{_SHARE_DIGITS}g}")]


def _queue(study: Study, fixed: Mapping[str, Scalar], run: PlannedRun) -> str:
    """Kind of the bottleneck's queue; "" if a script of its own does not give it."""
    own = study.scenarios[run["scenario"]].script != NETWORK_SCRIPT
    default = fixed.get("queue", "") if own else NETWORK_DEFAULTS["queue"]
    key = str(run["parameters"].get("queue", default))
    return study.queues[key].label or key if key in study.queues else key


def _flow_count(run: PlannedRun) -> int | None:
    """How many flows the script makes; None if it does not take the number."""
    argv = run["argv"]
    if _FLOWS_ARGUMENT not in argv:
        return None
    return int(argv[argv.index(_FLOWS_ARGUMENT) + 1])


def _others(study: Study, runs: Sequence[PlannedRun]) -> Iterator[str]:
    """Further parameters that the study varies, and the start of a second flow."""
    swept = [name for run in runs for name in swept_names(study.scenarios[run["scenario"]])]
    for name in dict.fromkeys([*swept, *_ALSO_TOLD]):
        label = study.vocabulary[name].label
        values = _once(
            format_value(run["parameters"][name]) for run in runs if name in run["parameters"]
        )
        if label and values and (name not in _TOLD):
            ends = [values[0], values[-1]] if len(values) > 1 else values
            yield label.replace("{}", " to ".join(ends))
