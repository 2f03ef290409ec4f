"""Whether a claim holds, with the values that decide it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

from bdpbench.contracts.yaml_files import suggest
from bdpbench.errors import BdpbenchError
from bdpbench.score.claims import (
    AllOf,
    Compare,
    Monotone,
    NeverReaches,
    OrderedGroups,
    Ranking,
    Selector,
    Spread,
    Within,
)
from bdpbench.score.lookup import Lookup, Measured

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Outcome:
    """Whether a condition holds (None: a run that it needs is not there), why, and on what."""

    holds: bool | None
    explanation: str
    evidence: tuple[tuple[str, Measured], ...] = ()


_NOT_RUN = "a run that it needs is not in this tier"


def evaluate(condition: Any, lookup: Lookup, where: str) -> Outcome:
    """Evaluate one condition of claims.yaml on the metrics of a plan."""
    evaluators: dict[type, Callable[[Any, Lookup, str], Outcome]] = {
        Compare: _compare,
        Within: _within,
        Monotone: _monotone,
        Ranking: _ranking,
        OrderedGroups: _ordered_groups,
        Spread: _spread,
        NeverReaches: _never_reaches,
        AllOf: _all_of,
    }
    return evaluators[type(condition)](condition, lookup, where)


def _find(selector: Selector, lookup: Lookup, where: str) -> Measured | None:
    return lookup.one(selector.scenario, selector.select, selector.metric, selector.subject, where)


def _named(metric: str, found: Measured) -> tuple[str, Measured]:
    return f"{metric}, {found.label}", found


def _text(value: float | None) -> str:
    return "never" if value is None else f"{value:.6g}"


def _compare(condition: Compare, lookup: Lookup, where: str) -> Outcome:
    values: list[float | None] = []
    evidence = []
    for side in (condition.left, condition.right):
        if isinstance(side, Selector):
            found = _find(side, lookup, where)
            if found is None:
                return Outcome(None, _NOT_RUN)
            evidence.append(_named(side.metric, found))
            values.append(found.value)
        else:
            values.append(side)
    left, right = values
    factor = f"{condition.factor:g} · " if condition.factor != 1 else ""
    explanation = f"{_text(left)} {condition.op} {factor}{_text(right)}"
    if left is None or right is None:
        return Outcome(False, explanation, tuple(evidence))
    holds = _OPERATORS[condition.op](left, condition.factor * right)
    return Outcome(holds, explanation, tuple(evidence))


def _within(condition: Within, lookup: Lookup, where: str) -> Outcome:
    found = _find(condition.value, lookup, where)
    if found is None:
        return Outcome(None, _NOT_RUN)
    value = _sized(found.value, condition.absolute)
    holds = value is not None and condition.lower <= value <= condition.upper
    explanation = f"{_text(value)} in [{condition.lower:g}, {condition.upper:g}]"
    return Outcome(holds, explanation, (_named(condition.value.metric, found),))


def _monotone(condition: Monotone, lookup: Lookup, where: str) -> Outcome:
    planned = lookup.runs(condition.scenario, condition.select, where)
    found = lookup.all(
        condition.scenario, condition.select, condition.metric, condition.subject, where
    )
    found = sorted(found, key=lambda each: _point(each, condition.along, where))
    if len(found) < 3 or len(found) < len(planned):
        return Outcome(None, "it needs at least three runs of the sweep, all finished")
    values = [each.value for each in found]
    explanation = " → ".join(_text(value) for value in values) + f" along {condition.along}"
    holds = _in_order(values, operator.le if condition.direction == "increasing" else operator.ge)
    return Outcome(holds, explanation, tuple(_named(condition.metric, each) for each in found))


def _point(found: Measured, parameter: str, where: str) -> float:
    """Where on the sweep of a parameter a run lies."""
    value = found.parameters.get(parameter)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        numbers = [
            name for name, each in found.parameters.items() if isinstance(each, (int, float))
        ]
        raise BdpbenchError(
            f"along: {parameter!r} is no number among the parameters of {found.label}",
            where=where,
            hint=suggest(parameter, numbers),
        )
    return float(value)


def _in_order(values: Sequence[float | None], holds: Callable[[float, float], bool]) -> bool:
    known = [value for value in values if value is not None]
    return len(known) == len(values) and all(holds(a, b) for a, b in pairwise(known))


def _ranking(condition: Ranking, lookup: Lookup, where: str) -> Outcome:
    found = [_find(each, lookup, where) for each in condition.items]
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return Outcome(None, _NOT_RUN)
    order = operator.lt if condition.order == "ascending" else operator.gt
    sign = " < " if condition.order == "ascending" else " > "
    values = [each.value for each in known]
    evidence = tuple(
        _named(item.metric, each) for item, each in zip(condition.items, known, strict=True)
    )
    return Outcome(_in_order(values, order), sign.join(_text(v) for v in values), evidence)


def _ordered_groups(condition: OrderedGroups, lookup: Lookup, where: str) -> Outcome:
    groups = [_find_all(group, lookup, where) for group in condition.groups]
    known = [group for group in groups if group is not None]
    if len(known) < len(groups):
        return Outcome(None, _NOT_RUN)
    values = [[_sized(each.value, condition.absolute) for _, each in group] for group in known]
    sign = ("<" if condition.order == "ascending" else ">") + ("" if condition.strict else "=")
    order = _OPERATORS[sign]
    holds = all(_in_order(pair, order) for a, b in pairwise(values) for pair in product(a, b))
    explanation = f" {sign} ".join("{" + ", ".join(map(_text, group)) + "}" for group in values)
    return Outcome(holds, explanation, tuple(each for group in known for each in group))


def _spread(condition: Spread, lookup: Lookup, where: str) -> Outcome:
    found = _find_all(condition.items, lookup, where)
    if found is None:
        return Outcome(None, _NOT_RUN)
    values = [_sized(each.value, condition.absolute) for _, each in found]
    known = [value for value in values if value is not None]
    listed = ", ".join(map(_text, values))
    if len(known) < len(values):
        return Outcome(False, f"not all have a value: {listed}", tuple(found))
    spread = max(known) - min(known)
    explanation = f"spread of {listed}: {spread:.6g} {condition.op} {condition.limit:g}"
    return Outcome(_OPERATORS[condition.op](spread, condition.limit), explanation, tuple(found))


def _find_all(
    selectors: Sequence[Selector], lookup: Lookup, where: str
) -> list[tuple[str, Measured]] | None:
    """The named metrics of a list; None where one was not run."""
    found = [(each.metric, _find(each, lookup, where)) for each in selectors]
    known = [_named(metric, each) for metric, each in found if each is not None]
    return known if len(known) == len(found) else None


def _sized(value: float | None, absolute: bool) -> float | None:
    return abs(value) if absolute and value is not None else value


def _never_reaches(condition: NeverReaches, lookup: Lookup, where: str) -> Outcome:
    found = _find(condition.value, lookup, where)
    if found is None:
        return Outcome(None, _NOT_RUN)
    explanation = "never reached" if found.value is None else f"reached at {_text(found.value)}"
    return Outcome(found.value is None, explanation, (_named(condition.value.metric, found),))


def _all_of(condition: AllOf, lookup: Lookup, where: str) -> Outcome:
    outcomes = [evaluate(each, lookup, where) for each in condition.claims]
    evidence = tuple(each for outcome in outcomes for each in outcome.evidence)
    explanation = "; ".join(outcome.explanation for outcome in outcomes)
    if any(outcome.holds is False for outcome in outcomes):
        return Outcome(False, explanation, evidence)
    if any(outcome.holds is None for outcome in outcomes):
        return Outcome(None, _NOT_RUN, evidence)
    return Outcome(True, explanation, evidence)
