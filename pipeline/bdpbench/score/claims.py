"""``claims.yaml``: qualitative statements of a study as data that a run can prove wrong.

Statements about a grid use means: ``mean_over`` names the parameters that a selector leaves open,
and its value is the mean over the runs. ``for_each`` makes a statement for each combination of
values of some parameters, which are added to its selectors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, RootModel, model_validator

from bdpbench.contracts.plan import Scalar
from bdpbench.contracts.yaml_files import Location, YamlFile
from bdpbench.errors import BdpbenchError
from bdpbench.score.origin import HINT, Origin, OriginFault, origin_of
from bdpbench.studies.study import known_or_suggest


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class Selector(_Strict):
    """One metric of one run, or its mean over runs that differ only in ``mean_over``."""

    scenario: str = ""  # if absent, that of the enclosing for_each
    select: dict[str, Scalar] = Field(default_factory=dict)
    metric: str
    subject: str | None = None
    mean_over: list[str] = Field(default_factory=list)


Finite = Annotated[float, Field(allow_inf_nan=False)]
Margin = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Operand = Selector | Finite


class Compare(_Strict):
    """``left op factor · right``, which may be violated by less than ``margin``."""

    kind: Literal["compare"]
    left: Operand
    op: Literal["<", "<=", ">", ">="]
    right: Operand
    factor: Finite = 1.0
    margin: Margin = 0.0

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if not isinstance(self.left, Selector) and not isinstance(self.right, Selector):
            raise ValueError("left and right are numbers: no run can prove them wrong")
        return self


class Within(_Strict):
    """``lower <= value <= upper``, or the same for the absolute value."""

    kind: Literal["within"]
    value: Selector
    lower: float
    upper: float
    absolute: bool = False

    @model_validator(mode="after")
    def _some_value_fits(self) -> Self:
        if not self.lower <= self.upper:
            raise ValueError(f"no value is within [{self.lower:g}, {self.upper:g}]")
        return self


class Monotone(_Strict):
    """A metric never decreases (or never increases) as a parameter increases.

    Steps of up to ``margin`` in the other direction are allowed; if a margin is given, the last
    value has to be above (below) the first.
    """

    kind: Literal["monotone"]
    scenario: str = ""
    select: dict[str, Scalar] = Field(default_factory=dict)
    metric: str
    subject: str | None = None
    mean_over: list[str] = Field(default_factory=list)
    along: str
    direction: Literal["increasing", "decreasing"]
    margin: Margin = 0.0


class Ranking(_Strict):
    """Metrics in the order in which they are listed, each strictly beyond the previous one."""

    kind: Literal["ranking"]
    items: list[Selector] = Field(min_length=2)
    order: Literal["ascending", "descending"]


class OrderedGroups(_Strict):
    """Every metric of a group is beyond every metric of the previous group; any order within one.

    With ``strict: false`` adjacent groups may share a value.
    """

    kind: Literal["ordered_groups"]
    groups: list[Annotated[list[Selector], Field(min_length=1)]] = Field(min_length=2)
    order: Literal["ascending", "descending"]
    absolute: bool = False
    strict: bool = True


class Spread(_Strict):
    """``largest - smallest op limit`` of several metrics: whether they are equal, or differ."""

    kind: Literal["spread"]
    items: list[Selector] = Field(min_length=2)
    op: Literal["<", "<=", ">", ">="]
    limit: Finite
    absolute: bool = False


class NeverReaches(_Strict):
    """A time that is never reached within the simulation."""

    kind: Literal["never_reaches"]
    value: Selector


class AllOf(_Strict):
    """All statements of a list hold."""

    kind: Literal["all_of"]
    claims: list[Statement] = Field(min_length=1)


class ForEach(_Strict):
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


def _has_own(asked: Selector | Monotone, name: str) -> bool:
    return bool(asked.scenario) if name == _SCENARIO else name in asked.select


_SCENARIO = "scenario"

Condition = (
    Compare | Within | Monotone | Ranking | OrderedGroups | Spread | NeverReaches | AllOf | ForEach
)
Statement = Annotated[Condition, Field(discriminator="kind")]


Node = TypeVar("Node", bound=BaseModel)


def _about(node: Node, values: Mapping[str, Scalar]) -> Node:
    """A condition whose selectors get some values in addition to their own."""
    changed = {name: _inside(getattr(node, name), values) for name in type(node).model_fields}
    return node.model_copy(update={**changed, **_selected(node, values)})


def _selected(node: BaseModel, values: Mapping[str, Scalar]) -> dict[str, object]:
    if not isinstance(node, (Selector, Monotone)):
        return {}
    rest = {name: value for name, value in values.items() if name != _SCENARIO}
    scenario = node.scenario or str(values.get(_SCENARIO, ""))
    return {"scenario": scenario, "select": {**rest, **node.select}}


def _inside(value: object, values: Mapping[str, Scalar]) -> object:
    if isinstance(value, BaseModel):
        return _about(value, values)
    if isinstance(value, list):
        return [_inside(each, values) for each in value]
    return value


class ClaimText(_Strict):
    """A claim's place, its statement in our words, and how its condition was found."""

    id: str
    where: str
    page: int | str = ""
    statement: str
    found: str
    chosen_on: list[str] = Field(default_factory=list)
    known_miss: str = ""


@dataclass(frozen=True)
class Question:
    """A part of a claim that asks for a metric, and its place in claims.yaml.

    A ``Selector`` asks for one value, a ``Monotone`` for one at each point of a sweep.
    """

    source: YamlFile
    location: Location
    asked: Selector | Monotone

    @property
    def line(self) -> int:
        """Its line; the file is read again for it, which takes longer than all other checks."""
        return self.source.line_of(self.location)


@dataclass(frozen=True)
class Claim:
    """A statement of the study, the condition that decides whether it holds, and its questions.

    ``origin`` says how the condition, with its thresholds and metrics, was found.
    """

    text: ClaimText
    origin: Origin
    condition: Condition
    questions: tuple[Question, ...]
    place: tuple[YamlFile, int]

    def error(self, key: str, message: str, hint: str) -> BdpbenchError:
        """The error to raise about a key of the claim."""
        source, index = self.place
        return source.error((index, key), f"{self.text.id}: {message}", hint=hint)


class _File(RootModel[list[dict[str, Any]]]):
    pass


class _Condition(RootModel[Statement]):
    pass


_TEXT_KEYS = tuple(ClaimText.model_fields)


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
        claim = _claim(source, index, entry, metrics)
        if claim.text.id in claims:
            raise source.error((index, "id"), f"{claim.text.id!r} appears twice")
        claims[claim.text.id] = claim
    return list(claims.values())


def _claim(source: YamlFile, index: int, entry: dict[str, Any], metrics: Collection[str]) -> Claim:
    if "found" not in entry:
        message = "the key found is missing; how was the condition found?"
        raise source.error((index,), message, hint=HINT)
    text = source.validate_part(
        ClaimText, {key: value for key, value in entry.items() if key in _TEXT_KEYS}, (index,)
    )
    given = {key: value for key, value in entry.items() if key not in _TEXT_KEYS}
    condition = source.validate_part(_Condition, given, (index,)).root
    questions = []
    for location, asked in asked_of(condition, (index,)):
        unknown = known_or_suggest(asked.metric, metrics, "metric")
        if unknown:
            raise source.error((*location, "metric"), f"{text.id}: {unknown[0]}", hint=unknown[1])
        questions.append(Question(source, (*location, "metric"), asked))
    return Claim(text, _origin(source, index, text), condition, tuple(questions), (source, index))


def _origin(source: YamlFile, index: int, text: ClaimText) -> Origin:
    found = origin_of(text.found, text.chosen_on)
    if isinstance(found, OriginFault):
        raise source.error((index, found.column), f"{text.id}: {found.message}", hint=found.hint)
    return found


def asked_of(node: object, at: Location = ()) -> Iterator[tuple[Location, Selector | Monotone]]:
    """The questions of a condition, each with its place relative to that of the condition."""
    if isinstance(node, (Selector, Monotone)):
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
