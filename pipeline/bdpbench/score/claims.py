"""``claims.yaml``: qualitative statements of a study as conditions that a run can prove wrong.

Each kind of condition is a class: its keys, and how the runs of a plan decide it. All of them
consist of comparisons of two values, and each has a *margin*: by how much of the larger of its two
values the closest comparison of a statement that holds could shift before it fails, or by how much
the farthest one of a statement that fails misses. Statements about
a grid use means: ``mean_over`` names the parameters that a selector leaves open, and its value is
the mean over the runs. ``for_each`` makes a statement for each combination of values of some
parameters, which are added to its selectors.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise, permutations, product
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, Field, RootModel, model_validator

from bdpbench.contracts.plan import Scalar
from bdpbench.contracts.yaml_files import Location, Strict, YamlFile
from bdpbench.score.chance import Gap, Part, Parts, ends_of, gap
from bdpbench.score.lookup import Asked, Lookup, Measured, point_of
from bdpbench.score.published import Origin

FEWEST_POINTS = 3
"""Runs without which a sweep shows no trend."""

_SHOWN_CASES = 3
_NOT_RUN = "a run that it needs is not in this tier"
Evidence = tuple[tuple[str, Measured], ...]
"""Measured values, each with its metric."""


@dataclass(frozen=True)
class Finding:
    """The comparisons that decide a condition, why, and their values; None without any runs."""

    part: Part | None
    explanation: str
    evidence: Evidence = ()

    @property
    def holds(self) -> bool | None:
        """Whether the condition holds; None if a run that it needs is missing."""
        return self.part.holds if self.part else None

    @property
    def margin(self) -> float | None:
        """The margin of what decides it; None if runs are missing or no shift would matter."""
        if self.part is None or self.part.holds is None:
            return None
        return self.part.margin if math.isfinite(self.part.margin) else None


class _NotRunError(Exception):
    """A run that a condition needs is not in the tier."""


class Selector(Asked):
    """One metric of one run, or its mean over runs that differ only in ``mean_over``.

    A sweep (``Monotone``) is one that asks for a value at each point.
    """

    metric: str
    mean_over: list[str] = Field(default_factory=list)

    def found(self, lookup: Lookup) -> Measured | None:
        """What it asks for; None if a run is missing."""
        return lookup.mean(self, self.mean_over) if self.mean_over else lookup.one(self)


Finite = Annotated[float, Field(allow_inf_nan=False)]
Margin = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Operand = Selector | Finite
Operator = Literal["<", "<=", ">", ">="]
Order = Literal["ascending", "descending"]


class _Condition(Strict):
    """A condition; ``_decide`` of each kind says whether it holds if all of its runs are there."""

    def finding(self, lookup: Lookup) -> Finding:
        """Whether the metrics of a plan fulfil the condition.

        Raises:
            BdpbenchError: for a selector that is ambiguous, or that names something the study does
                not have.
        """
        try:
            return self._decide(lookup)
        except _NotRunError:
            return Finding(None, _NOT_RUN)

    def _decide(self, lookup: Lookup) -> Finding:
        raise NotImplementedError


def _measured(lookup: Lookup, *selectors: Selector) -> Evidence:
    """The values that selectors ask for."""
    found = [(each.metric, each.found(lookup)) for each in selectors]
    known = tuple((metric, each) for metric, each in found if each is not None)
    if len(known) < len(found):
        raise _NotRunError
    return known


def _values(evidence: Evidence, *, absolute: bool = False) -> list[float | None]:
    values = [each.value for _, each in evidence]
    return [None if each is None else abs(each) for each in values] if absolute else values


def _text(value: float | None) -> str:
    return "never" if value is None else f"{value:.6g}"


def _unit(evidence: Evidence) -> str:
    return evidence[0][1].unit


class Compare(_Condition):
    """``left op factor · right``, which may be violated by less than ``margin``."""

    kind: Literal["compare"]
    left: Operand
    op: Operator
    right: Operand
    factor: Finite = 1.0
    margin: Margin = 0.0

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if not isinstance(self.left, Selector) and not isinstance(self.right, Selector):
            raise ValueError("left and right are numbers: no run can prove them wrong")
        return self

    def _decide(self, lookup: Lookup) -> Finding:
        sides = (self.left, self.right)
        evidence = _measured(lookup, *(each for each in sides if isinstance(each, Selector)))
        measured = iter(_values(evidence))
        left, right = (next(measured) if isinstance(each, Selector) else each for each in sides)
        factor = f"{self.factor:g} · " if self.factor != 1 else ""
        explanation = f"{_text(left)} {self.op} {factor}{_text(right)}"
        if self.margin:
            explanation += f" within {self.margin:g}"
        is_below = self.op in ("<", "<=")
        limit = None
        if right is not None:
            limit = self.factor * right + (self.margin if is_below else -self.margin)
        ends = (left, limit) if is_below else (limit, left)
        part = gap(*ends, _unit(evidence), strict="=" not in self.op)
        if part.holds and left == limit and left in ends_of(_unit(evidence)):
            part = Gap(0.0, holds=True, margin=math.inf)  # something never happens, or always
        return Finding(part, explanation, evidence)


class Within(_Condition):
    """``lower <= value <= upper``, or the same for the absolute value.

    With null for both, the value is a time that is never reached within the simulation.
    """

    kind: Literal["within"]
    value: Selector
    lower: float | None
    upper: float | None
    absolute: bool = False

    @model_validator(mode="after")
    def _some_value_fits(self) -> Self:
        if (self.lower is None) != (self.upper is None):
            raise ValueError("lower and upper are both numbers, or both null: never reached")
        if self.lower is not None and self.upper is not None and not self.lower <= self.upper:
            raise ValueError(f"no value is within [{self.lower:g}, {self.upper:g}]")
        return self

    def _decide(self, lookup: Lookup) -> Finding:
        evidence = _measured(lookup, self.value)
        (own,), (value,) = _values(evidence), _values(evidence, absolute=self.absolute)
        if self.lower is None or self.upper is None:
            explanation = "never reached" if value is None else f"reached at {_text(value)}"
            never = math.inf if value is None else -math.inf
            return Finding(Gap(never, value is None, never), explanation, evidence)
        explanation = f"{_text(value)} in [{self.lower:g}, {self.upper:g}]"
        unit = _unit(evidence)
        lower, upper = self.lower, self.upper
        if self.absolute and lower <= 0:
            lower = -math.inf  # a magnitude is never below 0
        if value is not None and value <= upper == max(ends_of(unit)):
            upper = math.inf  # nor is a share above all of it
        ends = (
            gap(lower, own, unit, either=(False, self.absolute)),
            gap(own, upper, unit, either=(self.absolute, False)),
        )
        return Finding(Parts(ends), explanation, evidence)


class Monotone(Selector, _Condition):
    """A metric never decreases (or never increases) as a parameter increases.

    Steps of up to ``margin`` in the other direction are allowed; if a margin is given, the last
    value has to be above (below) the first.
    """

    kind: Literal["monotone"]
    along: str
    direction: Literal["increasing", "decreasing"]
    margin: Margin = 0.0

    def _decide(self, lookup: Lookup) -> Finding:
        found = self._means(lookup) if self.mean_over else lookup.all(self)
        planned = len(self._points(lookup) if self.mean_over else lookup.runs(self))
        found.sort(key=lambda each: point_of(each.parameters, self.along, each.label))
        if len(found) < FEWEST_POINTS or len(found) < planned:
            return Finding(None, "it needs at least three runs of the sweep, all finished")
        evidence = tuple((self.metric, each) for each in found)
        values = _values(evidence)
        explanation = " → ".join(map(_text, values)) + f" along {self.along}"
        rising = values if self.direction == "increasing" else values[::-1]
        unit = _unit(evidence)
        steps = [gap(a, b, unit, room=self.margin) for a, b in pairwise(rising)]
        if self.margin:
            steps.append(gap(rising[0], rising[-1], unit, strict=True))
        return Finding(Parts(steps), explanation, evidence)

    def _points(self, lookup: Lookup) -> list[Scalar]:
        """Values of the swept parameter that runs of the plan have."""
        return list(dict.fromkeys(run["parameters"][self.along] for run in lookup.runs(self)))

    def _means(self, lookup: Lookup) -> list[Measured]:
        """The mean at each point of the sweep for which all runs are there."""
        points = (
            self.model_copy(update={"select": {**self.select, self.along: value}})
            for value in self._points(lookup)
        )
        means = [lookup.mean(at, self.mean_over) for at in points]
        return [each for each in means if each is not None]


class OrderedGroups(_Condition):
    """Every metric of a group is beyond every metric of the previous group; any order within one.

    Groups of one metric each are a ranking. With ``strict: false`` adjacent groups may share a
    value.
    """

    kind: Literal["ordered_groups"]
    groups: list[Annotated[list[Selector], Field(min_length=1)]] = Field(min_length=2)
    order: Order
    absolute: bool = False
    strict: bool = True

    def _decide(self, lookup: Lookup) -> Finding:
        evidence = _measured(lookup, *(each for group in self.groups for each in group))
        sign = ("<" if self.order == "ascending" else ">") + ("" if self.strict else "=")
        values = iter(_values(evidence, absolute=self.absolute))
        texts = [", ".join(_text(next(values)) for _ in group) for group in self.groups]
        is_ranking = all(len(group) == 1 for group in self.groups)
        explanation = f" {sign} ".join(texts if is_ranking else [f"{{{each}}}" for each in texts])
        own = iter(_values(evidence))
        groups = [[next(own) for _ in group] for group in self.groups]
        rising = groups if self.order == "ascending" else groups[::-1]
        unit, either = _unit(evidence), (self.absolute, self.absolute)
        pairs = [pair for a, b in pairwise(rising) for pair in product(a, b)]
        gaps = [gap(*pair, unit, strict=self.strict, either=either) for pair in pairs]
        return Finding(Parts(gaps), explanation, evidence)


class Spread(_Condition):
    """``largest - smallest op limit`` of several metrics: whether they are equal, or differ."""

    kind: Literal["spread"]
    items: list[Selector] = Field(min_length=2)
    op: Operator
    limit: Finite
    absolute: bool = False

    def _decide(self, lookup: Lookup) -> Finding:
        evidence = _measured(lookup, *self.items)
        values = _values(evidence, absolute=self.absolute)
        known = [value for value in values if value is not None]
        explanation = f"not all have a value: {', '.join(map(_text, values))}"
        if len(known) == len(values):
            spread = max(known) - min(known)
            listed = ", ".join(map(_text, values))
            explanation = f"spread of {listed}: {spread:.6g} {self.op} {self.limit:g}"
        # Differences of which all are below the limit, or any is above it.
        is_below, strict = self.op in ("<", "<="), "=" not in self.op
        room, either = self.limit if is_below else -self.limit, (self.absolute, self.absolute)
        unit, pairs = _unit(evidence), permutations(_values(evidence), 2)
        gaps = [gap(*pair, unit, room=room, strict=strict, either=either) for pair in pairs]
        return Finding(Parts(gaps, any=not is_below), explanation, evidence)


class AllOf(_Condition):
    """All statements of a list hold."""

    kind: Literal["all_of"]
    claims: list[Statement] = Field(min_length=1)

    def _decide(self, lookup: Lookup) -> Finding:
        findings = [each.finding(lookup) for each in self.claims]
        evidence = tuple(each for finding in findings for each in finding.evidence)
        explanation = "; ".join(finding.explanation for finding in findings)
        part = Parts([each.part for each in findings])
        return Finding(part, _NOT_RUN if part.holds is None else explanation, evidence)


_SCENARIO = "scenario"


class ForEach(_Condition):
    """A statement for each combination of values; ``scenario`` may be one of the parameters.

    A combination for which a tier plans no run is left out in that tier.
    """

    kind: Literal["for_each"]
    values: dict[str, Annotated[list[Scalar], Field(min_length=1)]] = Field(min_length=1)
    claim: Statement

    @property
    def cases(self) -> list[tuple[dict[str, Scalar], Condition]]:
        """Each combination, and the statement about it."""
        combinations = (
            dict(zip(self.values, each, strict=True)) for each in product(*self.values.values())
        )
        return [(values, _about(self.claim, values)) for values in combinations]

    @model_validator(mode="after")
    def _each_name_is_taken(self) -> Self:
        asked = [each for _, each in asked_of(self.claim)]
        for name in self.values:
            if all(_has_own(each, name) for each in asked):
                raise ValueError(f"values: every selector has its own {name}")
        return self

    def _decide(self, lookup: Lookup) -> Finding:
        findings = [
            (values, claim.finding(lookup))
            for values, claim in self.cases
            if any(lookup.runs(asked) for _, asked in asked_of(claim))
        ]
        if not findings:
            raise _NotRunError
        every = [each for _, each in findings]
        wrong = [(values, each) for values, each in findings if each.holds is False]
        unknown = sum(each.holds is None for each in every)
        evidence = {
            (metric, found.label, found.run_id): (metric, found)
            for each in every
            for metric, found in each.evidence
        }
        part = Parts([each.part for each in every])
        if part.holds is None:
            return Finding(part, _NOT_RUN, tuple(evidence.values()))
        explanation = f"it holds in {len(findings) - len(wrong) - unknown} of {len(findings)} cases"
        if unknown:
            explanation += f", {unknown} of which lack{'s' if unknown == 1 else ''} runs"
        shown = [f"{_words(values)}: {each.explanation}" for values, each in wrong[:_SHOWN_CASES]]
        if len(wrong) > _SHOWN_CASES:
            shown.append("…")
        if shown:
            explanation += ", and not for " + "; ".join(shown)
        return Finding(part, explanation, tuple(evidence.values()))


def _words(values: Mapping[str, Scalar]) -> str:
    return ", ".join(
        each if isinstance(each, str) else f"{name} {each:g}" for name, each in values.items()
    )


def _has_own(asked: Selector, name: str) -> bool:
    return bool(asked.scenario) if name == _SCENARIO else name in asked.select


Condition = Compare | Within | Monotone | OrderedGroups | Spread | AllOf | ForEach
Statement = Annotated[Condition, Field(discriminator="kind")]

Node = TypeVar("Node", bound=BaseModel)


def _about(node: Node, values: Mapping[str, Scalar]) -> Node:
    """A condition whose selectors get some values in addition to their own."""
    changed = {name: _inside(getattr(node, name), values) for name in type(node).model_fields}
    if isinstance(node, Selector):
        rest = {name: value for name, value in values.items() if name != _SCENARIO}
        scenario = node.scenario or str(values.get(_SCENARIO, ""))
        changed |= {"scenario": scenario, "select": {**rest, **node.select}}
    return node.model_copy(update=changed)


def _inside(value: object, values: Mapping[str, Scalar]) -> object:
    if isinstance(value, BaseModel):
        return _about(value, values)
    if isinstance(value, list):
        return [_inside(each, values) for each in value]
    return value


def asked_of(node: object, at: Location = ()) -> Iterator[tuple[Location, Selector]]:
    """The questions of a condition, each with its place relative to that of the condition."""
    if isinstance(node, Selector):
        yield at, node
    elif isinstance(node, ForEach):
        for _, claim in node.cases:
            yield from asked_of(claim, (*at, "claim"))
    elif isinstance(node, BaseModel):
        for name in type(node).model_fields:
            yield from asked_of(getattr(node, name), (*at, name))
    elif isinstance(node, list):
        for place, each in enumerate(node):
            yield from asked_of(each, (*at, place))


class ClaimText(Origin):
    """A claim's place, its statement in our words, and how its condition was found."""

    id: str
    where: str
    page: int | str = ""
    statement: str
    known_miss: str = ""


@dataclass(frozen=True)
class Claim:
    """A statement of the study, and the condition that decides whether it holds.

    Attributes:
        text: what the file says about it, and how the condition, with its thresholds and metrics,
            was found.
        condition: the condition.
        questions: the parts of the condition that ask for a metric, each with its place in it.
    """

    text: ClaimText
    condition: Condition
    questions: tuple[tuple[Location, Selector], ...]


class _File(RootModel[list[dict[str, Any]]]):
    pass


class _OneCondition(RootModel[Statement]):
    pass


def load_claims(path: Path, metrics: Collection[str]) -> list[Claim]:
    """Read and check ``claims.yaml``; a study without the file makes no claims.

    Args:
        path: the file, a list of claims.
        metrics: ids of all metrics.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    if not path.is_file():
        return []
    source = YamlFile(path)
    claims: dict[str, Claim] = {}
    for index, entry in enumerate(source.validate(_File).root):
        claim = _claim(source, index, entry)
        for location, asked in claim.questions:
            source.require((index, *location, "metric"), asked.metric, metrics, "metric")
        if claim.text.id in claims:
            raise source.error((index, "id"), f"{claim.text.id!r} appears twice")
        claims[claim.text.id] = claim
    return list(claims.values())


def _claim(source: YamlFile, index: int, entry: dict[str, Any]) -> Claim:
    words = {key: entry[key] for key in entry if key in ClaimText.model_fields}
    rest = {key: entry[key] for key in entry if key not in words}
    text = source.validate_part(ClaimText, words, (index,))
    condition = source.validate_part(_OneCondition, rest, (index,)).root
    return Claim(text, condition, tuple(asked_of(condition)))
