"""Determines from their parameters what varies between the runs of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from bdpbench.contracts.plan import PlannedRun, ProtocolText, Scalar
from bdpbench.pages.text import ParameterWords
from bdpbench.studies.vocabulary import PROTOCOL_PARAMETERS
from bdpbench.units import unit_of

Group = TypeVar("Group", bound=Hashable)
Protocols: TypeAlias = Mapping[str, ProtocolText]

# Not swept for their own sake: the duration of a run, and its random numbers.
_REPETITION = "substream"
_NOT_SWEPT = ("duration_s", _REPETITION)

# Derived from other parameters.
_DERIVED = ("bdp_pkts",)

NEUTRAL = "#3f4750"
"""Colour of lines that belong to no protocol, or to several."""

# Parameters that represent a sweep in which several parameters change together.
_PREFERRED = ("rtt_ms", "rtt_2_ms", "rtt_1_ms", "buffer_pkts", "bottleneck_mbps")

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


def protocol_label(run: PlannedRun, protocols: Protocols) -> str:
    """The run's protocols in words, each once; the run's label if it names none."""
    labels = [label_of(key, protocols) for key in dict.fromkeys(protocols_of(run))]
    return " and ".join(labels) or str(run["label"])


def label_of(key: str, protocols: Protocols) -> str:
    """Label of a protocol; its key if it is unknown."""
    return protocols[key]["label"] if key in protocols else key


def colour_of(key: str, protocols: Protocols) -> str:
    """Colour of a protocol, or a neutral colour if the key is not a protocol."""
    return protocols[key]["colour"] if key in protocols else NEUTRAL


def lighter(colour: str, nth: int) -> str:
    """A colour, #rrggbb, for the nth series of that colour: lighter by a quarter each time.

    >>> lighter("#336699", 0), lighter("#336699", 1)
    ('#336699', '#668cb2')
    """
    share = max(0.4, 0.75**nth)
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(255 - share * (255 - part)):02x}" for part in parts)


def dash_of(key: str, protocols: Protocols, nth: int = 0) -> tuple[int, ...]:
    """Dashes of a protocol's line, the same in every chart; after the eighth they repeat.

    Args:
        key: key of the protocol; an unknown one gets the dashes of the first.
        protocols: protocols of the study, in order.
        nth: how many flows of the protocol in the same run are drawn before.
    """
    if nth:
        return _FURTHER_DASHES[(nth - 1) % len(_FURTHER_DASHES)]
    position = list(protocols).index(key) if key in protocols else 0
    return _DASHES[position % len(_DASHES)]


def rounds(nth: int) -> int:
    """How often all dashes for a protocol's further lines have been used before the nth.

    >>> [rounds(nth) for nth in range(6)]
    [0, 0, 0, 0, 1, 1]
    """
    return max(0, nth - 1) // len(_FURTHER_DASHES)


def find_sweep(
    runs: Sequence[PlannedRun],
    alike: Callable[[PlannedRun], Hashable] = protocols_of,
    swept: Collection[str] | None = None,
) -> Sweep:
    """Find what is swept in a scenario's runs.

    Args:
        runs: runs of a scenario.
        alike: returns equal keys for runs that only a sweep distinguishes.
        swept: parameters that the study sweeps; others follow from them. None: unknown.
    """
    varying = [name for name in _varying(runs, alike) if name not in _NOT_SWEPT]
    names = [name for name in varying if swept is None or name in swept]
    numbers = {name: found for name in names if (found := _numbered(runs, name, names))}
    names = [name for name in names if not any(name in each for each in numbers.values())]
    numeric = [name for name in names if _is_numeric(runs, name)]
    if not numeric:
        return Sweep("", tuple(names))
    main = min(numeric, key=lambda name: (name in numbers, *_preference(runs, name)))
    others = tuple(name for name in names if name != main and not _follows(runs, name, main, alike))
    return Sweep(main, others)


def undetermined(
    runs: Sequence[PlannedRun], known: Sequence[str], swept: Collection[str] | None = None
) -> tuple[str, ...]:
    """Parameters in which runs with equal ``known`` differ, without derived ones.

    Args:
        runs: runs of a scenario.
        known: names of parameters.
        swept: parameters that the study sweeps; others follow from them. None: unknown.

    Returns:
        Names, those with the fewest values first; together with ``known`` they distinguish a run
            from all others except its repetitions.
    """
    names = {name for run in runs for name in run["parameters"]} - {*known, _REPETITION}
    if swept is not None:
        names &= {*swept, "duration_s"}
    counts = {name: len({run["parameters"].get(name) for run in runs}) for name in names}
    chosen = list(known)
    for name in sorted(names, key=lambda each: (counts[each], each not in _PREFERRED, each)):
        if counts[name] > 1 and not _is_told_by(runs, name, chosen):
            chosen.append(name)
    return tuple(chosen[len(known) :])


def _is_told_by(runs: Sequence[PlannedRun], name: str, known: Sequence[str]) -> bool:
    """Whether a parameter has one value for each combination of values of others."""
    found: dict[tuple[Scalar | None, ...], Scalar | None] = {}
    for run in runs:
        parameters = run["parameters"]
        key, value = tuple(parameters.get(each) for each in known), parameters.get(name)
        if found.setdefault(key, value) != value:
            return False
    return True


def _varying(runs: Sequence[PlannedRun], alike: Callable[[PlannedRun], Hashable]) -> list[str]:
    varying: dict[str, None] = {}
    for group in grouped(runs, alike).values():
        for name in sorted({name for run in group for name in run["parameters"]}):
            if len({repr(run["parameters"].get(name)) for run in group}) > 1:
                varying[name] = None
    return list(varying)


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
    found = [each for each in names if each != name and _is_told_by(runs, each, [name])]
    alone = any(_is_told_by(runs, name, [each]) for each in found)
    return found if not alone and _is_told_by(runs, name, found) else []


def _preference(runs: Sequence[PlannedRun], name: str) -> tuple[int, int, str]:
    """Sort key: most values first, then the best-known parameter, the derived BDP last."""
    values = len({run["parameters"][name] for run in runs})
    known = _PREFERRED.index(name) if name in _PREFERRED else len(_PREFERRED)
    return -values, known + (name == "bdp_pkts"), name


def _follows(
    runs: Sequence[PlannedRun], name: str, main: str, alike: Callable[[PlannedRun], Hashable]
) -> bool:
    """Whether ``name`` has one value for each value of ``main`` within every group."""
    groups = grouped(runs, lambda run: (alike(run), run["parameters"].get(main)))
    return all(
        len({repr(run["parameters"].get(name)) for run in group}) == 1 for group in groups.values()
    )


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
    """Run id → the parameters in which some runs differ, in words, without protocols."""
    told = varying_parameters(runs)
    return {
        run["run_id"]: ", ".join(
            words.with_value(name, run["parameters"][name])
            for name in told
            if name in run["parameters"]
        )
        for run in runs
    }


def varying_parameters(runs: Sequence[PlannedRun]) -> list[str]:
    """Parameters in which some of the runs differ; neither protocols nor derived ones."""
    varying = [name for name in _varying(runs, lambda _: None) if not is_protocol(name)]
    return [name for name in varying if name not in _DERIVED] or varying


def grouped(
    runs: Iterable[PlannedRun], key: Callable[[PlannedRun], Group]
) -> dict[Group, list[PlannedRun]]:
    """Runs grouped by ``key``, in order of first appearance."""
    groups: dict[Group, list[PlannedRun]] = {}
    for run in runs:
        groups.setdefault(key(run), []).append(run)
    return groups
