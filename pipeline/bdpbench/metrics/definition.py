"""The definition of a metric: a decorated function, and everything about it.

A metric of a run is a function of a view (``views.py``) of a flow, of a link or of the whole run,
one of several runs a function of a ``Group`` (``groups.py``). The decorator declares the rest:
unit, texts, source, and the tables and parameters without which a run does not have the metric.
Whatever a function reads has to be declared, since a value is computed again when its inputs
change.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from bdpbench.contracts.tables import TABLE_KEYS
from bdpbench.contracts.tables import Definition as DefinitionDocument
from bdpbench.errors import BdpbenchError
from bdpbench.metrics.code import code_digest
from bdpbench.metrics.views import FlowView, LinkView, Needs, RunView, Window, whole

if TYPE_CHECKING:
    from bdpbench.metrics.groups import Group, Row

Subject = Literal["flow", "link", "run", "receiver", "node", "drops"]
Level = Literal["run", "group"]

OfView: TypeAlias = Callable[[Any], float | None]
OfGroup: TypeAlias = "Callable[[Group], Iterator[tuple[Row, float | None]]]"

_DIGITS = 12


@dataclass(frozen=True)
class Definition:
    """One definition of one metric.

    Attributes:
        metric: name in metrics.parquet, published.csv and claims.yaml.
        subject: what it is measured on: "flow", "link" or "run"; of packet traces also "receiver",
            "node" or "drops".
        level: "run" when one run suffices, "group" when several runs are compared.
        unit: unit of the value; "1" for a ratio, "%" for per cent.
        text: the definition, for readers of the report.
        source: where the definition comes from.
        title: a short name for charts and tables; "" if there is none.
        version: version of the definition, set by hand; None if it follows from the code.
    """

    metric: str
    subject: Subject
    level: Level
    unit: str
    text: str
    source: str
    title: str
    version: int | None

    @property
    def id(self) -> str:
        """Metric and version of its definition, e.g. ``utilization/1``."""
        return f"{self.metric}/{self.digest[:_DIGITS] if self.version is None else self.version}"

    @property
    def digest(self) -> str:
        """SHA-256 of the code that the values depend on; "" if unknown."""
        return ""

    def as_document(self) -> DefinitionDocument:
        """The definition in the form of files and pages."""
        return {
            "id": self.id,
            "metric": self.metric,
            "title": self.title,
            "subject": self.subject,
            "level": self.level,
            "unit": self.unit,
            "text": self.text,
            "source": self.source,
        }


@dataclass(frozen=True)
class Metric(Definition):
    """A metric of one run.

    Attributes:
        tables: a run without them does not have the metric; for a flow or link metric, the flows or
            links of the first table are measured.
        parameters: likewise for parameters; a flow's own parameter (``rtt_1_ms``) replaces that of
            all flows (``rtt_ms``).
        optional: parameters that it reads if a run has them.
        window: the time that a value covers, in s.
        when: condition for views that have the tables and parameters to have the metric.
        compute: the value; None: never reached or not defined.
    """

    tables: tuple[str, ...]
    parameters: tuple[str, ...]
    optional: tuple[str, ...]
    window: Callable[[Any], Window]
    when: Callable[[Any], bool] | None
    compute: OfView

    @cached_property
    def digest(self) -> str:
        """SHA-256 of its code, all code of this package that this reaches, and its needs."""
        functions = [self.compute, self.window, *([self.when] if self.when else [])]
        facts = (self.subject, self.unit, *self.tables, "", *self.parameters, "", *self.optional)
        return code_digest(functions, facts)

    @cached_property
    def needs(self) -> Needs:
        """Everything that the function may read."""
        names = frozenset((*self.parameters, *self.optional))
        return Needs(self.metric, frozenset(self.tables), names)

    def reads(self, parameters: Iterable[str]) -> tuple[str, ...]:
        """The names of a run's parameters on which its values depend, sorted."""
        return _read_of(self.needs.parameters, tuple(parameters))

    def lacking(self, tables: Iterable[str], parameters: Iterable[str]) -> list[str]:
        """What a run with these tables and parameters lacks to have it, e.g. ``["table cwnd"]``."""
        have = {"duration_s", *(common_name(each) for each in parameters), *parameters}
        return [
            *(f"table {each}" for each in self.tables if each not in set(tables)),
            *(f"parameter {each}" for each in self.parameters if each not in have),
        ]


@dataclass(frozen=True)
class GroupMetric(Definition):
    """A metric of several runs.

    Attributes:
        metrics: the metrics of single runs that it is based on; a value belongs to a run with the
            first of them.
        compute: pairs of the row that a value belongs to, and the value.
    """

    metrics: tuple[str, ...]
    compute: OfGroup

    @cached_property
    def digest(self) -> str:
        """SHA-256 of its code and all code of this package that this reaches."""
        return code_digest([self.compute], (self.unit, *self.metrics))


def flow_metric(
    *,
    unit: str,
    title: str,
    text: str,
    source: str,
    tables: tuple[str, ...],
    parameters: tuple[str, ...] = (),
    optional: tuple[str, ...] = (),
    window: Callable[[FlowView], Window] = whole,
    when: Callable[[FlowView], bool] | None = None,
    name: str = "",
    version: int | None = None,
) -> Callable[[Callable[[FlowView], float | None]], Metric]:
    """Make a function of a flow a metric with its name; see ``Metric`` for the arguments.

    Raises:
        BdpbenchError: for an unknown table or missing texts.
    """

    def decorate(function: Callable[[FlowView], float | None]) -> Metric:
        words = (unit, text, source, title, version)
        needs = (tables, parameters, optional, window, when)
        return _metric("flow", name, words, needs, function)

    return decorate


def link_metric(
    *,
    unit: str,
    title: str,
    text: str,
    source: str,
    tables: tuple[str, ...],
    parameters: tuple[str, ...] = (),
    optional: tuple[str, ...] = (),
    window: Callable[[LinkView], Window] = whole,
    when: Callable[[LinkView], bool] | None = None,
    name: str = "",
    version: int | None = None,
) -> Callable[[Callable[[LinkView], float | None]], Metric]:
    """Make a function of a link a metric with its name; like ``flow_metric``."""

    def decorate(function: Callable[[LinkView], float | None]) -> Metric:
        words = (unit, text, source, title, version)
        needs = (tables, parameters, optional, window, when)
        return _metric("link", name, words, needs, function)

    return decorate


def run_metric(
    *,
    unit: str,
    title: str,
    text: str,
    source: str,
    tables: tuple[str, ...],
    parameters: tuple[str, ...] = (),
    optional: tuple[str, ...] = (),
    window: Callable[[RunView], Window] = whole,
    when: Callable[[RunView], bool] | None = None,
    name: str = "",
    version: int | None = None,
) -> Callable[[Callable[[RunView], float | None]], Metric]:
    """Make a function of a whole run a metric with its name; like ``flow_metric``."""

    def decorate(function: Callable[[RunView], float | None]) -> Metric:
        words = (unit, text, source, title, version)
        needs = (tables, parameters, optional, window, when)
        return _metric("run", name, words, needs, function)

    return decorate


def group_metric(
    *,
    unit: str,
    title: str,
    text: str,
    source: str,
    metrics: tuple[str, ...],
    name: str = "",
    version: int | None = None,
) -> Callable[[OfGroup], GroupMetric]:
    """Make a function of several runs a metric with its name; see ``GroupMetric``.

    Raises:
        BdpbenchError: for missing texts.
    """

    def decorate(function: OfGroup) -> GroupMetric:
        where = _where(function)
        key = name or function.__name__
        _check_words(where, key, unit=unit, text=text, source=source)
        if not metrics:
            raise BdpbenchError(f"metric {key} names no metric that it is made of", where=where)
        return GroupMetric(
            key, "run", "group", unit, text, source, title, version, metrics, function
        )

    return decorate


@lru_cache(maxsize=4096)
def _read_of(declared: frozenset[str], given: tuple[str, ...]) -> tuple[str, ...]:
    """The given names that are declared or stand for a declared one, cached for many runs."""
    names = {"duration_s", *declared}
    return tuple(sorted(each for each in given if each in names or common_name(each) in names))


def common_name(parameter: str) -> str:
    """The name of the parameter of all flows that a flow's own parameter overrides.

    >>> common_name("rtt_1_ms"), common_name("protocol_2"), common_name("flow2_start_s")
    ('rtt_ms', 'protocol', 'flow2_start_s')
    """
    return "_".join(part for part in parameter.split("_") if not part.isdecimal())


def _metric(
    subject: Subject,
    name: str,
    words: tuple[str, str, str, str, int | None],
    needs: tuple[
        tuple[str, ...],
        tuple[str, ...],
        tuple[str, ...],
        Callable[[Any], Window],
        Callable[[Any], bool] | None,
    ],
    function: OfView,
) -> Metric:
    where, key = _where(function), name or function.__name__
    unit, text, source, _, _ = words
    _check_words(where, key, unit=unit, text=text, source=source)
    _check_tables(where, key, needs[0])
    for each in (function, *needs[3:]):
        if each is not None and "<" in each.__qualname__:
            raise BdpbenchError(
                f"metric {key}: {each.__qualname__} stands inside of another function",
                where=where,
                hint="make it a function of the module, so that a change of it can be seen",
            )
    return Metric(key, subject, "run", *words, *needs, function)


def _check_words(where: str, key: str, **words: str) -> None:
    for what, word in words.items():
        if not word.strip():
            raise BdpbenchError(f"metric {key} has no {what}", where=where)


def _check_tables(where: str, key: str, tables: tuple[str, ...]) -> None:
    if not tables:
        raise BdpbenchError(f"metric {key} names no table that it is measured on", where=where)
    for table in tables:
        if table not in TABLE_KEYS:
            raise BdpbenchError(
                f"metric {key} needs table {table!r}, which no run can have",
                where=where,
                hint=f"known tables: {', '.join(TABLE_KEYS)}",
            )


def _where(function: Callable[..., object]) -> str:
    module = sys.modules.get(function.__module__)
    file = getattr(module, "__file__", None) or function.__code__.co_filename
    return f"{file}:{inspect.unwrap(function).__code__.co_firstlineno}"
