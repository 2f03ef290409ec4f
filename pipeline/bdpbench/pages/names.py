"""Names of runs, protocols and parameters, what tells runs apart, and the styles of their lines."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from bdpbench.contracts.judged import Judged, judged_of
from bdpbench.contracts.plan import Plan, PlannedRun, ProtocolText, Scalar, ScenarioText
from bdpbench.contracts.runs import Definition
from bdpbench.contracts.yaml_files import Strict
from bdpbench.studies.vocabulary import PROTOCOL_PARAMETERS
from bdpbench.units import MINUS, unit_of, with_unit

Group = TypeVar("Group", bound=Hashable)

# Not swept for their own sake: the duration of a run, and its random numbers.
_REPETITION = "substream"
_NOT_SWEPT = ("duration_s", _REPETITION)

# Derived from other parameters.
_DERIVED = ("bdp_pkts",)

NEUTRAL = "#3f4750"
"""Colour of lines that belong to no protocol, or to several."""

# The parameters that readers know best, of several that change together.
_KNOWN_BEST = ("rtt_ms", "rtt_2_ms", "rtt_1_ms", "buffer_pkts", "bottleneck_mbps")

_DASHES: tuple[tuple[int, ...], ...] = (
    (1, 0),
    (9, 3),
    (2, 2),
    (9, 3, 2, 3),
    (5, 3),
    (9, 3, 2, 3, 2, 3),
    (14, 3),
    (5, 3, 2, 3),
)

# Dashes of further flows of one protocol in one run, which share its colour.
_FURTHER_DASHES: tuple[tuple[int, ...], ...] = ((1, 3), (3, 7), (12, 7))


class Captions(Strict):
    """The words of a report, those of its study included, see ``reports/captions.yaml``.

    Attributes:
        charts: kind of chart → ``title``, ``quantity``, ``caption``; ``dashed`` is what the caption
            adds where the chart has dashed lines.
        thresholds: kind of dashed line → its name.
        parameters: run parameter → its name.
        pairs: the matrix of pairs of protocols, see ``Matrix``, for studies that declare none.
        filled_share: share of the BDP or of the capacity above which the study considers a path
            filled; None draws no line for it.
    """

    charts: dict[str, dict[str, str]]
    thresholds: dict[str, str]
    parameters: dict[str, str]
    pairs: dict[str, Any]
    filled_share: float | None = None


@dataclass(frozen=True)
class ParameterWords:
    """Names of run parameters, and the units of their values.

    >>> words = ParameterWords({"rtt_ms": "RTT"}, {"rtt_ms": "ms", "alpha": "packets"})
    >>> words.with_value("rtt_ms", 100), words.with_value("alpha", 1555)
    ('RTT 100 ms', 'alpha 1,555 packets')

    Attributes:
        names: parameter → its name.
        units: parameter → its unit; the names of others contain it.
        labels: parameter → value → its name, if it has one.
    """

    names: Mapping[str, str]
    units: Mapping[str, str]
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def name(self, parameter: str) -> str:
        """The parameter in words, or else its key without the unit at its end."""
        if parameter in self.names:
            return self.names[parameter]
        unit = "_" + parameter.rsplit("_", 1)[-1] if unit_of(parameter) else ""
        return parameter.removesuffix(unit).replace("_", " ")

    def unit(self, parameter: str) -> str:
        """The unit of a parameter, "" if it has none."""
        return self.units.get(parameter) or unit_of(parameter)

    def value(self, parameter: str, value: Any) -> str:
        """A value with its unit."""
        unit = self.unit(parameter)
        if isinstance(value, bool) or not isinstance(value, int | float):
            word = str(value)
            return with_unit(self.labels.get(parameter, {}).get(word, word), unit)
        number = f"{value:,}" if isinstance(value, int) else f"{value:,.10g}"
        return with_unit(number.replace("-", MINUS), unit)

    def with_value(self, parameter: str, value: Any) -> str:
        """Name and value, as in ``buffer 40 packets``."""
        return f"{self.name(parameter)} {self.value(parameter, value)}"


@dataclass(frozen=True)
class RunLink:
    """A run that a number comes from; ``known`` if the page has a section for it.

    ``protocols`` are the labels of those that it names, each once.
    """

    run_id: str
    label: str
    known: bool
    protocols: tuple[str, ...] = ()


class Names:
    """The names of runs, scenarios, protocols, metrics and parameters, and the styles of lines.

    Args:
        plan: the plan, with the names of its runs, scenarios and protocols.
        captions: words of the report.
        definitions: definitions of all metrics, with their names.
    """

    def __init__(self, plan: Plan, captions: Captions, definitions: Sequence[Definition]) -> None:
        self.captions = captions
        self.parameters = ParameterWords(
            captions.parameters,
            {name: each["unit"] for name, each in plan["parameters"].items()},
            {name: each.get("labels", {}) for name, each in plan["parameters"].items()},
        )
        self.protocols: Mapping[str, ProtocolText] = plan["protocols"]
        self.scenarios: Mapping[str, ScenarioText] = plan["scenarios"]
        self._definitions = {each["metric"]: each for each in definitions}
        self._planned = {run["run_id"]: run for run in plan["runs"]}
        self._ranks: dict[tuple[str, ...], dict[tuple[str, ...], int]] = {}
        # If two scenarios share a run, the last one names it.
        self._runs: dict[str, str] = {}
        for runs in grouped(plan["runs"], lambda run: run["scenario"]).values():
            self._runs |= labels_apart(runs, self.parameters)

    def run(self, run_id: str) -> RunLink:
        """Link to a run; a run that is not in the plan is named by its id."""
        planned = self._planned.get(run_id)
        own = dict.fromkeys(protocols_of(planned)) if planned else ()
        labels = tuple(map(self.protocol, own))
        return RunLink(run_id, self._runs.get(run_id, run_id), planned is not None, labels)

    def protocols_of(self, run: PlannedRun) -> str:
        """The run's protocols in words, each once; the run's label if it names none."""
        labels = [self.protocol(key) for key in dict.fromkeys(protocols_of(run))]
        return " and ".join(labels) or str(run["label"])

    def common(self, runs: Sequence[PlannedRun], parameters: Sequence[str]) -> list[str]:
        """Those of some parameters that have the same value in all of the runs, with the values."""
        return [
            self.parameters.with_value(name, runs[0]["parameters"][name])
            for name in parameters
            if runs and name in runs[0]["parameters"] and not _differs(runs, name)
        ]

    def swept(self, scenario: str) -> Sequence[str]:
        """Parameters that a study sweeps in a scenario, in its order."""
        return self.scenarios[scenario].get("swept", ())

    def metric(self, metric: str) -> str:
        """Name of a metric; if no definition has one, its id with blanks."""
        found = self._definitions.get(metric)
        return (found and found["title"]) or metric.replace("_", " ")

    def judged(self, metric: str) -> Judged:
        """Which of the values of a metric are better, as its definition declares."""
        found = self._definitions.get(metric)
        return Judged() if found is None else judged_of(found, found["unit"])

    def value(self, parameter: str, value: Scalar) -> str:
        """The value of a parameter in words; for a protocol its label."""
        if is_protocol(parameter):
            return self.protocol(str(value))
        return self.parameters.value(parameter, value)

    def condition(self, parameter: str, value: Scalar) -> str:
        """The value of a parameter that nothing else names; for a protocol only its label."""
        tell = self.value if is_protocol(parameter) else self.parameters.with_value
        return tell(parameter, value)

    def protocol(self, key: str) -> str:
        """Label of a protocol; its key if it is unknown."""
        return self.protocols[key]["label"] if key in self.protocols else key

    def colour(self, key: str) -> str:
        """Colour of a protocol, or a neutral colour if the key is not a protocol."""
        return self.protocols[key]["colour"] if key in self.protocols else NEUTRAL

    def dash(self, key: str, nth: int = 0) -> tuple[int, ...]:
        """Dashes of a protocol's line, the same in every chart; after the eighth they repeat.

        Args:
            key: key of the protocol; an unknown one gets the dashes of the first.
            nth: how many flows of the protocol in the same run are drawn before.
        """
        if nth:
            return _FURTHER_DASHES[(nth - 1) % len(_FURTHER_DASHES)]
        return dash_of(list(self.protocols).index(key) if key in self.protocols else 0)

    def rank(self, run: PlannedRun, parameters: Sequence[str]) -> int:
        """Place of a run's values of some parameters among those of all runs that have them."""
        names = tuple(parameters)
        if names not in self._ranks:
            found = {
                tuple(str(each["parameters"][name]) for name in names): [
                    (value, "") if isinstance(value, int | float) else (0, str(value))
                    for value in map(each["parameters"].__getitem__, names)
                ]
                for each in self._planned.values()
                if all(name in each["parameters"] for name in names)
            }
            order = sorted(found, key=found.__getitem__)
            self._ranks[names] = {key: place for place, key in enumerate(order)}
        return self._ranks[names].get(
            tuple(str(run["parameters"].get(name, "")) for name in names), 0
        )

    def protocols_in(self, selected: Mapping[str, str]) -> tuple[str, ...]:
        """Labels of the protocols that a selector names, each once."""
        keys = [value for name, value in selected.items() if is_protocol(name)]
        return tuple(self.protocol(key) for key in dict.fromkeys(keys))

    def evidence(self, label: str) -> str:
        """A label of evidence, ``<metric id>[ of <subject>], <run>``, in words."""
        asked, comma, run = label.partition(", ")
        metric, of, subject = asked.partition(" of ")
        metric = self.metric(metric) if metric in self._definitions else metric
        return f"{metric}{of}{subject_name(subject) if of else ''}{comma}{run}"

    def scenario(self, key: str) -> str:
        """Title of a scenario."""
        return self.scenarios[key]["title"] if key in self.scenarios else key


@dataclass(frozen=True)
class Sweep:
    """What varies between the runs of one protocol.

    Attributes:
        main: parameter that represents the sweep; "" if nothing varies or nothing is a number.
        others: parameters that vary and do not follow from ``main``.
    """

    main: str
    others: tuple[str, ...]

    def key(self, run: PlannedRun) -> tuple[Scalar | None, ...]:
        """Values that distinguish the run from others of its protocol."""
        names = [self.main, *self.others] if self.main else self.others
        return tuple(run["parameters"].get(name) for name in names)

    def describe(self, run: PlannedRun, words: ParameterWords) -> str:
        """The run's values in words, e.g. ``buffer 40 packets``; "" without a sweep."""
        varied = [self.main, *self.others] if self.main else list(self.others)
        return ", ".join(
            words.with_value(name, run["parameters"][name])
            for name in varied
            if name in run["parameters"]
        )


def is_protocol(parameter: str) -> bool:
    """Whether the values of a parameter are keys of protocols."""
    return parameter in PROTOCOL_PARAMETERS


def protocols_of(run: PlannedRun) -> tuple[str, ...]:
    """Protocol keys of a run, flow by flow if it names them so."""
    parameters = run["parameters"]
    return tuple(str(parameters[name]) for name in PROTOCOL_PARAMETERS if name in parameters)


def are_mixed(runs: Iterable[PlannedRun]) -> bool:
    """Whether two different protocols meet in any run."""
    return any(len(set(protocols_of(run))) > 1 for run in runs)


def in_order(parameter: str, values: Collection[Scalar], names: Names) -> Sequence[Scalar]:
    """Values of a parameter: protocols in the order of the study, else numbers before words."""
    if is_protocol(parameter):
        return [key for key in names.protocols if key in values]
    return sorted(values, key=lambda each: (isinstance(each, str), each))


def pairs_of(runs: Iterable[PlannedRun]) -> set[tuple[str, ...]]:
    """The protocols of runs in which different ones meet."""
    return {met for met in map(protocols_of, runs) if len(set(met)) > 1}


def lighter(colour: str, nth: int) -> str:
    """A colour, #rrggbb, for the nth series of that colour: lighter by a quarter each time.

    >>> lighter("#336699", 0), lighter("#336699", 1)
    ('#336699', '#668cb2')
    """
    share = max(0.4, 0.75**nth)
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(255 - share * (255 - part)):02x}" for part in parts)


def dash_of(position: int) -> tuple[int, ...]:
    """Dashes of the line of the protocol at a position of a chart; after the eighth they repeat."""
    return _DASHES[position % len(_DASHES)]


def broken_dash_of(position: int) -> tuple[int, ...]:
    """Dashes that are not a solid line; after the seventh they repeat."""
    return _DASHES[1 + position % (len(_DASHES) - 1)]


def rounds(nth: int) -> int:
    """How often all dashes for a protocol's further lines have been used before the nth.

    >>> [rounds(nth) for nth in range(6)]
    [0, 0, 0, 0, 1, 1]
    """
    return max(0, nth - 1) // len(_FURTHER_DASHES)


def find_sweep(runs: Sequence[PlannedRun], swept: Sequence[str]) -> Sweep:
    """Find what varies between runs of a scenario.

    Args:
        runs: runs of a scenario.
        swept: parameters that the study sweeps, in its order; others follow from them. Of several
            with equally many values, the best known represents them, or else the first one.
    """
    groups = grouped(runs, protocols_of).values()
    known = {*swept}.difference(_NOT_SWEPT)
    names = sorted(name for name in known if any(_differs(group, name) for group in groups))
    numbers = {name: found for name in names if (found := _numbered(runs, name, names))}
    names = [name for name in names if not any(name in each for each in numbers.values())]
    numeric = [name for name in swept if name in names and _is_numeric(runs, name)]
    if not numeric:
        return Sweep("", tuple(names))

    def preference(name: str) -> tuple[bool, int, int]:
        values = {run["parameters"][name] for run in runs}
        return name in numbers, -len(values), (*_KNOWN_BEST, name).index(name)

    main = min(numeric, key=preference)
    alike = grouped(runs, lambda run: (protocols_of(run), run["parameters"].get(main))).values()
    others = [name for name in names if any(_differs(group, name) for group in alike)]
    return Sweep(main, tuple(name for name in others if name != main))


def undetermined(
    runs: Sequence[PlannedRun], known: Sequence[str], swept: Sequence[str]
) -> tuple[str, ...]:
    """Parameters that a study sweeps in which runs with equal ``known`` differ.

    Args:
        runs: runs of a scenario.
        known: names of parameters.
        swept: parameters that the study sweeps; others follow from them.

    Returns:
        Names, those with the fewest values first; together with ``known`` they distinguish a run
            from all others except its repetitions.
    """
    open_ones = [name for name in ("duration_s", *swept) if name not in (*known, _REPETITION)]
    counts = {name: len({run["parameters"].get(name) for run in runs}) for name in open_ones}
    chosen = list(known)
    for name in sorted(counts, key=lambda each: (counts[each], each not in _KNOWN_BEST, each)):
        if counts[name] > 1 and not _is_determined_by(runs, name, chosen):
            chosen.append(name)
    return tuple(chosen[len(known) :])


def _is_determined_by(runs: Sequence[PlannedRun], name: str, known: Sequence[str]) -> bool:
    """Whether a parameter has one value for each combination of values of others."""
    found: dict[tuple[Scalar | None, ...], Scalar | None] = {}
    for run in runs:
        parameters = run["parameters"]
        key, value = tuple(parameters.get(each) for each in known), parameters.get(name)
        if found.setdefault(key, value) != value:
            return False
    return True


def _differs(runs: Sequence[PlannedRun], name: str) -> bool:
    return len({repr(run["parameters"].get(name)) for run in runs}) > 1


def _is_numeric(runs: Sequence[PlannedRun], name: str) -> bool:
    values = [run["parameters"].get(name) for run in runs]
    return all(isinstance(value, int | float) for value in values)


def _numbered(runs: Sequence[PlannedRun], name: str, names: Sequence[str]) -> list[str]:
    """Parameters whose combinations a parameter numbers, as the number of a paper's case does.

    It is a number without a unit, and determines them; they determine it together, but none does
    alone. It is a short name for them, but on an axis its order would mean nothing.
    """
    if unit_of(name) or not _is_numeric(runs, name):
        return []
    found = [each for each in names if each != name and _is_determined_by(runs, each, [name])]
    alone = any(_is_determined_by(runs, name, [each]) for each in found)
    return found if not alone and _is_determined_by(runs, name, found) else []


def labels_apart(runs: Iterable[PlannedRun], words: ParameterWords) -> dict[str, str]:
    """Run id → label of the run; equal labels get the parameters that tell their runs apart.

    >>> runs = [{"run_id": name, "label": "Reno", "parameters": {"substream": number}}
    ...         for name, number in (("a", 1), ("b", 2))]
    >>> labels_apart(runs, ParameterWords({}, {}))
    {'a': 'Reno, substream 1', 'b': 'Reno, substream 2'}
    """
    distinct = {run["run_id"]: run for run in runs}
    found = {}
    for label, alike in grouped(distinct.values(), lambda run: str(run["label"])).items():
        own = told_apart(alike, words) if len(alike) > 1 else {}
        for run in alike:
            run_id = run["run_id"]
            found[run_id] = f"{label}, {own[run_id] or run_id}" if own else label
    return found


def told_apart(runs: Sequence[PlannedRun], words: ParameterWords) -> dict[str, str]:
    """Run id → the parameters in which some runs differ, in words; no protocols."""
    given = {name for run in runs for name in run["parameters"] if not is_protocol(name)}
    varying = [name for name in sorted(given) if _differs(runs, name)]
    varying = [name for name in varying if name not in _DERIVED] or varying
    return {
        run["run_id"]: ", ".join(
            words.with_value(name, run["parameters"][name])
            for name in varying
            if name in run["parameters"]
        )
        for run in runs
    }


def grouped(
    runs: Iterable[PlannedRun], key: Callable[[PlannedRun], Group]
) -> dict[Group, list[PlannedRun]]:
    """Runs grouped by ``key``, in order of first appearance."""
    groups: dict[Group, list[PlannedRun]] = {}
    for run in runs:
        groups.setdefault(key(run), []).append(run)
    return groups


def subject_name(subject: str) -> str:
    """A metric's subject in words; flows are numbered from 1, as ``protocol_1`` is.

    >>> subject_name("flow:0"), subject_name("link:bottleneck_2"), subject_name("run")
    ('flow 1', 'bottleneck 2', 'run')
    """
    kind, _, name = subject.partition(":")
    if kind == "flow" and name.isdigit():
        return f"flow {int(name) + 1}"
    return name.replace("_", " ") or kind
