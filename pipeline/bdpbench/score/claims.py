"""``claims.yaml``: qualitative statements of a study as data that a run can prove wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.studies.study import known_or_suggest

Scalar = int | float | str


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Selector(_Strict):
    """One metric of one run."""

    scenario: str
    select: dict[str, Scalar] = Field(default_factory=dict)
    metric: str
    subject: str | None = None


Operand = Selector | float


class Compare(_Strict):
    """``left op factor · right``."""

    kind: Literal["compare"]
    left: Operand
    op: Literal["<", "<=", ">", ">="]
    right: Operand
    factor: float = 1.0


class Within(_Strict):
    """``lower <= value <= upper``, or the same of the value without its sign."""

    kind: Literal["within"]
    value: Selector
    lower: float
    upper: float
    absolute: bool = False


class Monotone(_Strict):
    """A metric never falls (or never rises) as a parameter grows."""

    kind: Literal["monotone"]
    scenario: str
    select: dict[str, Scalar] = Field(default_factory=dict)
    metric: str
    subject: str | None = None
    along: str
    direction: Literal["increasing", "decreasing"]


class Ranking(_Strict):
    """Metrics stand in the order in which they are listed, each strictly beyond the one before."""

    kind: Literal["ranking"]
    items: list[Selector] = Field(min_length=2)
    order: Literal["ascending", "descending"]


class OrderedGroups(_Strict):
    """Every metric of a group is beyond every metric of the group before; within one, any order.

    With ``strict: false`` neighbouring groups may share a value.
    """

    kind: Literal["ordered_groups"]
    groups: list[Annotated[list[Selector], Field(min_length=1)]] = Field(min_length=2)
    order: Literal["ascending", "descending"]
    absolute: bool = False
    strict: bool = True


class Spread(_Strict):
    """``largest - smallest op limit`` of several metrics: whether they are the same, or differ."""

    kind: Literal["spread"]
    items: list[Selector] = Field(min_length=2)
    op: Literal["<", "<=", ">", ">="]
    limit: float
    absolute: bool = False


class NeverReaches(_Strict):
    """A time that is never reached within the simulation."""

    kind: Literal["never_reaches"]
    value: Selector


class AllOf(_Strict):
    """Every statement of a list."""

    kind: Literal["all_of"]
    claims: list[Statement] = Field(min_length=1)


Statement = Annotated[
    Compare | Within | Monotone | Ranking | OrderedGroups | Spread | NeverReaches | AllOf,
    Field(discriminator="kind"),
]


class ClaimText(_Strict):
    """Where a claim stands, and what it says in our words."""

    id: str
    where: str
    page: int | str = ""
    statement: str
    known_miss: str = ""


class Claim(BaseModel):
    """A statement of the study and the condition that decides whether it holds."""

    text: ClaimText
    condition: Statement


class _File(RootModel[list[dict[str, Any]]]):
    pass


_TEXT_KEYS = tuple(ClaimText.model_fields)


def load_claims(path: Path, metrics: Collection[str]) -> list[Claim]:
    """Read and check ``claims.yaml``; a study without the file makes no claims.

    Args:
        path: the file, a list of claims.
        metrics: ids that a metric may have.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    if not path.is_file():
        return []
    source = YamlFile(path)
    entries = source.validate(_File).root
    claims: dict[str, Claim] = {}
    for index, entry in enumerate(entries):
        claim = _claim(source, index, entry)
        if claim.text.id in claims:
            raise source.error((index, "id"), f"{claim.text.id!r} appears twice")
        for metric in _metrics_of(claim.condition):
            unknown = known_or_suggest(metric, metrics, "metric")
            if unknown:
                raise source.error((index,), f"{claim.text.id}: {unknown[0]}", hint=unknown[1])
        claims[claim.text.id] = claim
    return list(claims.values())


def _claim(source: YamlFile, index: int, entry: dict[str, Any]) -> Claim:
    text = {key: value for key, value in entry.items() if key in _TEXT_KEYS}
    condition = {key: value for key, value in entry.items() if key not in _TEXT_KEYS}
    return Claim(
        text=source.validate_part(ClaimText, text, (index,)),
        condition=source.validate_part(_Condition, condition, (index,)).root,
    )


class _Condition(RootModel[Statement]):
    pass


def _metrics_of(node: Any) -> Iterator[str]:
    if isinstance(node, BaseModel):
        for name in type(node).model_fields:
            value = getattr(node, name)
            if name == "metric":
                yield value
            else:
                yield from _metrics_of(value)
    elif isinstance(node, list):
        for each in node:
            yield from _metrics_of(each)
