"""Whether a claim holds, with the values that decide it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from itertools import pairwise, product

from bdpbench.contracts.plan import Scalar
from bdpbench.contracts.yaml_files import suggest
from bdpbench.errors import BdpbenchError
from bdpbench.score.claims import (
    AllOf,
    Compare,
    Condition,
    ForEach,
    Monotone,
    NeverReaches,
    OrderedGroups,
    Ranking,
    Selector,
    Spread,
    Within,
    asked_of,
)
from bdpbench.score.lookup import Lookup, Measured

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Finding:
    """Whether a condition holds (None: a run that it needs is missing), why, and its values."""

    holds: bool | None
    explanation: str
    evidence: tuple[tuple[str, Measured], ...] = ()


_NOT_RUN = "a run that it needs is not in this tier"


@singledispatch
def evaluate(condition: Condition, lookup: Lookup, where: str) -> Finding:
    """Evaluate one condition of claims.yaml on the metrics of a plan.

    Raises:
        BdpbenchError: for a selector that is ambiguous, or that names something the study does not
            have.
    """
    raise TypeError(f"{type(condition).__name__} is not a kind of condition")


def _value(selector: Selector, lookup: Lookup, where: str) -> Measured | None:
    """The value that a selector asks for; None if a run that it needs is missing."""
    if selector.mean_over:
        return lookup.mean(selector, selector.mean_over, where)
    return lookup.one(selector, where)


def _named(metric: str, found: Measured) -> tuple[str, Measured]:
    return f"{metric}, {found.label}", found


def _text(value: float | None) -> str:
    return "never" if value is None else f"{value:.6g}"


@evaluate.register
def _compare(condition: Compare, lookup: Lookup, where: str) -> Finding:
    values: list[float | None] = []
    evidence = []
    for side in (condition.left, condition.right):
        if isinstance(side, Selector):
            found = _value(side, lookup, where)
            if found is None:
                return Finding(None, _NOT_RUN)
            evidence.append(_named(side.metric, found))
            values.append(found.value)
        else:
            values.append(side)
    left, right = values
    factor = f"{condition.factor:g} · " if condition.factor != 1 else ""
    explanation = f"{_text(left)} {condition.op} {factor}{_text(right)}"
    if condition.margin:
        explanation += f" within {condition.margin:g}"
    if left is None or right is None:
        return Finding(False, explanation, tuple(evidence))
    margin = condition.margin if condition.op in ("<", "<=") else -condition.margin
    holds = _OPERATORS[condition.op](left, condition.factor * right + margin)
    return Finding(holds, explanation, tuple(evidence))


@evaluate.register
def _within(condition: Within, lookup: Lookup, where: str) -> Finding:
    found = _value(condition.value, lookup, where)
    if found is None:
        return Finding(None, _NOT_RUN)
    value = _sized(found.value, condition.absolute)
    holds = value is not None and condition.lower <= value <= condition.upper
    explanation = f"{_text(value)} in [{condition.lower:g}, {condition.upper:g}]"
    return Finding(holds, explanation, (_named(condition.value.metric, found),))


@evaluate.register
def _monotone(condition: Monotone, lookup: Lookup, where: str) -> Finding:
    found = _means_along(condition, lookup, where) if condition.mean_over else None
    if found is None:
        found = lookup.all(condition, where)
        planned = len(lookup.runs(condition, where))
    else:
        planned = len(_points_along(condition, lookup, where))
    found.sort(key=lambda each: _point(each, condition.along, where))
    if len(found) < 3 or len(found) < planned:
        return Finding(None, "it needs at least three runs of the sweep, all finished")
    values = [each.value for each in found]
    explanation = " → ".join(_text(value) for value in values) + f" along {condition.along}"
    holds = _goes_one_way(values, condition)
    return Finding(holds, explanation, tuple(_named(condition.metric, each) for each in found))


def _goes_one_way(values: Sequence[float | None], condition: Monotone) -> bool:
    sign = 1 if condition.direction == "increasing" else -1
    margin = condition.margin
    if not _in_order(values, lambda a, b: sign * a <= sign * b + margin):
        return False
    first, last = values[0], values[-1]
    return not margin or (first is not None and last is not None and sign * first < sign * last)


def _points_along(condition: Monotone, lookup: Lookup, where: str) -> list[Scalar]:
    """Values of the swept parameter that runs of the plan have."""
    runs = lookup.runs(condition, where)
    return list(dict.fromkeys(run["parameters"][condition.along] for run in runs))


def _means_along(condition: Monotone, lookup: Lookup, where: str) -> list[Measured]:
    """The mean at each point of a sweep for which all runs are there."""
    means = []
    for value in _points_along(condition, lookup, where):
        at = Selector(
            scenario=condition.scenario,
            select={**condition.select, condition.along: value},
            metric=condition.metric,
            subject=condition.subject,
        )
        means.append(lookup.mean(at, condition.mean_over, where))
    return [each for each in means if each is not None]


def _point(found: Measured, parameter: str, where: str) -> float:
    """The value of the swept parameter in a run."""
    value = found.parameters.get(parameter)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        numbers = [
            name for name, each in found.parameters.items() if isinstance(each, (int, float))
        ]
        raise BdpbenchError(
            f"along: {parameter!r} is not a number among the parameters of {found.label}",
            where=where,
            hint=suggest(parameter, numbers),
        )
    return float(value)


def _in_order(values: Sequence[float | None], holds: Callable[[float, float], bool]) -> bool:
    known = [value for value in values if value is not None]
    return len(known) == len(values) and all(holds(a, b) for a, b in pairwise(known))


@evaluate.register
def _ranking(condition: Ranking, lookup: Lookup, where: str) -> Finding:
    found = [_value(each, lookup, where) for each in condition.items]
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return Finding(None, _NOT_RUN)
    order = operator.lt if condition.order == "ascending" else operator.gt
    sign = " < " if condition.order == "ascending" else " > "
    values = [each.value for each in known]
    evidence = tuple(
        _named(item.metric, each) for item, each in zip(condition.items, known, strict=True)
    )
    return Finding(_in_order(values, order), sign.join(_text(v) for v in values), evidence)


@evaluate.register
def _ordered_groups(condition: OrderedGroups, lookup: Lookup, where: str) -> Finding:
    groups = [_find_all(group, lookup, where) for group in condition.groups]
    known = [group for group in groups if group is not None]
    if len(known) < len(groups):
        return Finding(None, _NOT_RUN)
    values = [[_sized(each.value, condition.absolute) for _, each in group] for group in known]
    sign = ("<" if condition.order == "ascending" else ">") + ("" if condition.strict else "=")
    order = _OPERATORS[sign]
    holds = all(_in_order(pair, order) for a, b in pairwise(values) for pair in product(a, b))
    explanation = f" {sign} ".join("{" + ", ".join(map(_text, group)) + "}" for group in values)
    return Finding(holds, explanation, tuple(each for group in known for each in group))


@evaluate.register
def _spread(condition: Spread, lookup: Lookup, where: str) -> Finding:
    found = _find_all(condition.items, lookup, where)
    if found is None:
        return Finding(None, _NOT_RUN)
    values = [_sized(each.value, condition.absolute) for _, each in found]
    known = [value for value in values if value is not None]
    listed = ", ".join(map(_text, values))
    if len(known) < len(values):
        return Finding(False, f"not all have a value: {listed}", tuple(found))
    spread = max(known) - min(known)
    explanation = f"spread of {listed}: {spread:.6g} {condition.op} {condition.limit:g}"
    return Finding(_OPERATORS[condition.op](spread, condition.limit), explanation, tuple(found))


def _find_all(
    selectors: Sequence[Selector], lookup: Lookup, where: str
) -> list[tuple[str, Measured]] | None:
    """The named metrics of a list; None if one was not run."""
    found = [(each.metric, _value(each, lookup, where)) for each in selectors]
    known = [_named(metric, each) for metric, each in found if each is not None]
    return known if len(known) == len(found) else None


def _sized(value: float | None, absolute: bool) -> float | None:
    return abs(value) if absolute and value is not None else value


@evaluate.register
def _never_reaches(condition: NeverReaches, lookup: Lookup, where: str) -> Finding:
    found = _value(condition.value, lookup, where)
    if found is None:
        return Finding(None, _NOT_RUN)
    explanation = "never reached" if found.value is None else f"reached at {_text(found.value)}"
    return Finding(found.value is None, explanation, (_named(condition.value.metric, found),))


@evaluate.register
def _all_of(condition: AllOf, lookup: Lookup, where: str) -> Finding:
    findings = [evaluate(each, lookup, where) for each in condition.claims]
    evidence = tuple(each for finding in findings for each in finding.evidence)
    explanation = "; ".join(finding.explanation for finding in findings)
    if any(finding.holds is False for finding in findings):
        return Finding(False, explanation, evidence)
    if any(finding.holds is None for finding in findings):
        return Finding(None, _NOT_RUN, evidence)
    return Finding(True, explanation, evidence)


_SHOWN_CASES = 3


@evaluate.register
def _for_each(condition: ForEach, lookup: Lookup, where: str) -> Finding:
    findings = [
        (values, evaluate(claim, lookup, where))
        for values, claim in condition.cases
        if any(lookup.runs(asked, where) for _, asked in asked_of(claim))
    ]
    if not findings:
        return Finding(None, _NOT_RUN)
    wrong = [(values, each) for values, each in findings if each.holds is False]
    unknown = sum(each.holds is None for _, each in findings)
    evidence = {
        (label, found.run_id): (label, found)
        for _, each in findings
        for label, found in each.evidence
    }
    if not wrong and unknown:
        return Finding(None, _NOT_RUN, tuple(evidence.values()))
    explanation = f"it holds in {len(findings) - len(wrong) - unknown} of {len(findings)} cases"
    if unknown:
        explanation += f", {unknown} of which lack{'s' if unknown == 1 else ''} runs"
    shown = [f"{_words(values)}: {each.explanation}" for values, each in wrong[:_SHOWN_CASES]]
    if len(wrong) > _SHOWN_CASES:
        shown.append("…")
    if shown:
        explanation += ", and not for " + "; ".join(shown)
    return Finding(not wrong, explanation, tuple(evidence.values()))


def _words(values: Mapping[str, Scalar]) -> str:
    return ", ".join(
        str(value) if isinstance(value, str) else f"{name} {value:g}"
        for name, value in values.items()
    )
