"""Which runs of a scenario are charted together, and how their lines are told apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bdpbench.contracts.plan import PlannedRun
from bdpbench.pages.series import RunSeries
from bdpbench.pages.sweeps import (
    NEUTRAL,
    Protocols,
    Sweep,
    dash_of,
    grouped,
    label_of,
    labels_apart,
    lighter,
    protocol_label,
    protocols_of,
    rounds,
    told_apart,
)
from bdpbench.pages.text import ParameterWords, subject_name

# Dark to light, each readable on white; in the order of a swept value (viridis, cut at its bright
# end).
_SEQUENCE = (
    "#440154",
    "#46327e",
    "#365c8d",
    "#277f8e",
    "#1fa187",
    "#4ac16d",
    "#8cb82c",
    "#c2a80a",
)
_FLOW_COLOURS = ("#0b66c3", "#c2410c", "#0f766e", "#7e22ce", "#a16207", "#be185d", "#3f6212")


MOST_RUNS_OF_A_VIEW = 24
"""Most runs of a chart: curves of more could not be told apart."""


@dataclass(frozen=True)
class View:
    """Runs that are charted together.

    Attributes:
        title: what they have in common.
        runs: the runs, in the order of the plan, at most ``MOST_RUNS_OF_A_VIEW``.
        of: how many runs there are in all.
        colour_by: ``protocol``, or ``sweep`` for one protocol over the values of a sweep.
    """

    title: str
    runs: tuple[PlannedRun, ...]
    colour_by: str
    of: int = 1


@dataclass(frozen=True)
class Curve:
    """One line of a chart: where its points are, and its style."""

    run_id: str
    subject: str
    label: str
    colour: str
    dash: tuple[int, ...]


def plan_views(
    runs: Sequence[PlannedRun], sweep: Sweep, protocols: Protocols, words: ParameterWords
) -> list[View]:
    """Views of a scenario: protocols side by side at each value, and each protocol over values.

    Runs in which different protocols meet are shown one by one, because overlaid they would be
    unreadable.
    """
    if any(len(set(protocols_of(run))) > 1 for run in runs):
        return [View(str(run["label"]), (run,), "protocol") for run in runs]
    groups = grouped(runs, sweep.key)
    views = [_view(sweep.describe(group[0], words), group, "protocol") for group in groups.values()]
    if not sweep.main or len(groups) == 1:
        return views
    overlays = [
        _view(f"{protocol_label(group[0], protocols)}, all values", group, "sweep")
        for group in grouped(runs, protocols_of).values()
        if len(group) > 1
    ]
    # For a single protocol, the values are what can be compared.
    alone = len({protocols_of(run) for run in runs}) == 1
    return [*overlays, *views] if alone else [*views, *overlays]


def _view(title: str, runs: Sequence[PlannedRun], colour_by: str) -> View:
    """A view of runs, evenly selected if they are too many."""
    shown = min(len(runs), MOST_RUNS_OF_A_VIEW)
    picked = [runs[number * len(runs) // shown] for number in range(shown)]
    return View(title, tuple(picked), colour_by, len(runs))


def curves(
    view: View,
    table: str,
    series: Mapping[str, RunSeries],
    protocols: Protocols,
    sweep: Sweep,
    words: ParameterWords,
) -> list[Curve]:
    """Lines of one chart of a view; empty if none of its runs has the table."""
    found = []
    # Repetitions, and other runs that no sweep distinguishes.
    alike = len(view.runs) > 1 and len({protocols_of(run) for run in view.runs}) == 1
    for position, run in enumerate(view.runs):
        subjects = list(series.get(run["run_id"], {}).get(table, {}))
        for index, subject in enumerate(subjects):
            if view.colour_by == "sweep":
                colour, label = _sequence(position, len(view.runs)), sweep.describe(run, words)
            elif alike:
                colour = _sequence(position, len(view.runs))
                label = _label(run, subject, protocols)
            else:
                colour = _colour(run, subjects, index, protocols)
                label = _label(run, subject, protocols)
            if len(subjects) > 1:
                label = f"{label}, {_name_in(run, subject)}"
            dash = _dash(run, subjects, index, protocols)
            found.append(Curve(run["run_id"], subject, label, colour, dash))
    return _distinct(found, view, words)


def _name_in(run: PlannedRun, subject: str) -> str:
    """A subject in words; for a flow with its group, if it has one."""
    name = subject_name(subject)
    group = run["parameters"].get(f"group_{name.removeprefix('flow ')}")
    return f"{name}, {group}" if group is not None and subject.startswith("flow:") else name


def _sequence(position: int, count: int) -> str:
    last = len(_SEQUENCE) - 1
    return _SEQUENCE[round(position * last / max(1, count - 1))]


def _flow_protocol(run: PlannedRun, subject: str) -> str | None:
    """Protocol key of a flow; for a link, the protocol that all of the run's flows share."""
    keys = protocols_of(run)
    kind, _, name = subject.partition(":")
    is_flow = kind == "flow" and name.isdigit()
    if is_flow and (own := run["parameters"].get(f"flow_protocol_{int(name) + 1}")):
        return str(own)
    if len(set(keys)) == 1:
        return keys[0]
    if is_flow and int(name) < len(keys):
        return keys[int(name)]
    return None


def _nth(run: PlannedRun, subjects: Sequence[str], index: int) -> int:
    """How many subjects before this one have the same protocol."""
    keys = [_flow_protocol(run, subject) for subject in subjects[: index + 1]]
    return keys[:-1].count(keys[-1])


def _dash(
    run: PlannedRun, subjects: Sequence[str], index: int, protocols: Protocols
) -> tuple[int, ...]:
    """Dashes of a subject's protocol; a link shared by several is drawn like the first."""
    key = _flow_protocol(run, subjects[index]) or ""
    return dash_of(key, protocols, _nth(run, subjects, index))


def _colour(run: PlannedRun, subjects: Sequence[str], index: int, protocols: Protocols) -> str:
    """Colour of a subject's protocol, lighter each time dashes repeat."""
    subject = subjects[index]
    key = _flow_protocol(run, subject)
    if key is not None and key in protocols:
        return lighter(protocols[key]["colour"], rounds(_nth(run, subjects, index)))
    is_flow = subject.startswith("flow:")
    return _FLOW_COLOURS[index % len(_FLOW_COLOURS)] if is_flow else NEUTRAL


def _label(run: PlannedRun, subject: str, protocols: Protocols) -> str:
    key = _flow_protocol(run, subject)
    if key is not None:
        return label_of(key, protocols)
    return protocol_label(run, protocols)


def _distinct(found: list[Curve], view: View, words: ParameterWords) -> list[Curve]:
    """Add what distinguishes runs to lines that would otherwise have equal names."""
    counts = Counter(curve.label for curve in found)
    if len(counts) == len(found):
        return found
    own = told_apart(view.runs, words)
    labels = labels_apart(view.runs, words)
    told = [
        curve.label
        if counts[curve.label] == 1
        else f"{curve.label}, {own[curve.run_id] or labels[curve.run_id]}"
        for curve in found
    ]
    return [replace(curve, label=label) for curve, label in zip(found, told, strict=True)]
