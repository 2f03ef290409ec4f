"""The definition of a metric: a decorated function, and everything about it.

A metric of a run is a function of a view (``views.py``) of a flow, of a link or of the whole run,
one of several runs a function of a ``Group`` (``groups.py``). The decorator declares the rest:
unit, texts, source, and the tables and parameters without which a run does not have the metric.
``family`` declares several at once: statistics of the same samples. Any callable will do, closures
and partials included.

Whatever a function reads has to be declared, since a value is computed again when its inputs
change. The version of a definition is set by hand: it changes with what the values mean.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, Required, TypeAlias, TypedDict, TypeVar, Unpack

import polars as pl

from bdpbench.contracts.runs import TABLE_KEYS
from bdpbench.contracts.runs import Definition as DefinitionDocument
from bdpbench.errors import BdpbenchError
from bdpbench.metrics.series import median, nearest_rank, number
from bdpbench.metrics.views import FlowView, LinkView, Needs, RunView, Window, whole

if TYPE_CHECKING:
    from bdpbench.metrics.groups import Group, Row

Subject = Literal["flow", "link", "run", "receiver", "node", "drops"]
Level = Literal["run", "group"]

OfGroup: TypeAlias = "Callable[[Group], Iterator[tuple[Row, float | None]]]"


@dataclass(frozen=True, kw_only=True)
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
        version: version of the definition, set by hand.
    """

    metric: str
    subject: Subject
    level: Level = "run"
    unit: str
    text: str
    source: str
    title: str
    version: int | str = 1

    @property
    def id(self) -> str:
        """Metric and version of its definition, e.g. ``utilization/1``."""
        return f"{self.metric}/{self.version}"

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


@dataclass(frozen=True, kw_only=True)
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
        code: SHA-256 of the study's file that declares it; "" for a metric of bdpbench.
    """

    tables: tuple[str, ...]
    parameters: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    window: Callable[[Any], Window] = whole
    when: Callable[[Any], bool] | None = None
    compute: Callable[[Any], float | None]
    code: str = ""

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


@dataclass(frozen=True, kw_only=True)
class GroupMetric(Definition):
    """A metric of several runs.

    Attributes:
        metrics: the metrics of single runs that it is based on; a value belongs to a run with the
            first of them.
        compute: pairs of the row that a value belongs to, and the value.
    """

    level: Level = "group"
    subject: Subject = "run"
    metrics: tuple[str, ...]
    compute: OfGroup


class Words(TypedDict, total=False):
    """What every decorator declares; ``name`` stands for the function's, see ``Definition``."""

    unit: Required[str]
    title: Required[str]
    text: Required[str]
    source: Required[str]
    name: str
    version: int | str


class RunWords(Words, total=False):
    """What the decorators of metrics of one run declare; see ``Metric``."""

    tables: Required[tuple[str, ...]]
    parameters: tuple[str, ...]
    optional: tuple[str, ...]
    window: Callable[[Any], Window]
    when: Callable[[Any], bool]


class GroupWords(Words, total=False):
    """What ``group_metric`` declares; see ``GroupMetric``."""

    metrics: Required[tuple[str, ...]]


D = TypeVar("D", bound=Definition)
OfFlow: TypeAlias = Callable[[FlowView], float | None]
OfLink: TypeAlias = Callable[[LinkView], float | None]
OfRun: TypeAlias = Callable[[RunView], float | None]


def flow_metric(**words: Unpack[RunWords]) -> Callable[[OfFlow], Metric]:
    """Make a function of a flow a metric with its name; see ``Metric`` for the arguments.

    Raises:
        BdpbenchError: for an unknown table or missing texts.
    """
    return functools.partial(_run_metric, "flow", words, _place())


def link_metric(**words: Unpack[RunWords]) -> Callable[[OfLink], Metric]:
    """Make a function of a link a metric with its name; like ``flow_metric``."""
    return functools.partial(_run_metric, "link", words, _place())


def run_metric(**words: Unpack[RunWords]) -> Callable[[OfRun], Metric]:
    """Make a function of a whole run a metric with its name; like ``flow_metric``."""
    return functools.partial(_run_metric, "run", words, _place())


def group_metric(**words: Unpack[GroupWords]) -> Callable[[OfGroup], GroupMetric]:
    """Make a function of several runs a metric with its name; see ``GroupMetric``.

    Raises:
        BdpbenchError: for missing texts.
    """
    return functools.partial(_group_metric, words, _place())


@dataclass(frozen=True)
class Statistic:
    """A number for many samples.

    Attributes:
        name: what the name of a metric begins with.
        title: what its title begins with.
        text: what its text begins with.
        of: the number; None if it is not defined.
    """

    name: str
    title: str
    text: str
    of: Callable[[pl.Series], float | None]


MEAN = Statistic("mean", "Mean", "Mean", lambda samples: number(samples.mean()))
MEDIAN = Statistic("median", "Median", "Median", median)
LARGEST = Statistic("max", "Largest", "Largest", lambda samples: number(samples.max()))


def percentile(rank: int) -> Statistic:
    """The nearest-rank percentile.

    >>> percentile(93).title, percentile(95).of(pl.Series([1, 2, 3]))
    ('93rd percentile of the', 3.0)
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(rank % 10 if rank // 10 != 1 else 0, "th")
    nth = f"{rank}{ending} percentile"
    least = f"the smallest value that at least {rank} in 100 do not exceed"
    return Statistic(
        f"p{rank}",
        f"{nth} of the",
        f"The {nth} ({least}) of the",
        functools.partial(nearest_rank, share_pct=rank),
    )


def family(
    subject: Literal["flow", "link", "run"], *statistics: Statistic, **words: Unpack[RunWords]
) -> Callable[[Callable[[Any], pl.Series]], tuple[Metric, ...]]:
    """Make a function that returns the samples of a view a metric for each statistic of them.

    Names, titles and texts are those of the statistic followed by those of the family:
    ``p95_queueing_delay``, "95th percentile of the queueing delay".

    Args:
        subject: what the view is of.
        statistics: each makes a metric.
        words: as for ``flow_metric``; ``title`` and ``text`` go on where the statistic's end.
    """
    place = _place()

    def declare(samples: Callable[[Any], pl.Series]) -> tuple[Metric, ...]:
        name = words.get("name") or _name_of(samples)
        return tuple(
            _run_metric(
                subject,
                {
                    **words,
                    "name": f"{each.name}_{name}",
                    "title": f"{each.title} {words['title']}",
                    "text": f"{each.text} {words['text']}",
                },
                place,
                functools.partial(_statistic_of, samples, each),
            )
            for each in statistics
        )

    return declare


def _statistic_of(
    samples: Callable[[Any], pl.Series], statistic: Statistic, view: object
) -> float | None:
    return statistic.of(samples(view))


DECLARED: dict[str, list[Definition]] = {}
"""File → the metrics that it has declared, in order, whatever it has bound them to."""


def _run_metric(
    subject: Subject, words: RunWords, place: tuple[str, int], compute: Callable[[Any], Any]
) -> Metric:
    made = _made(Metric, words, place, compute, subject=subject)
    where = _line(place)
    if not made.tables:
        raise BdpbenchError(
            f"metric {made.metric} names no table that it is measured on", where=where
        )
    for table in made.tables:
        if table not in TABLE_KEYS:
            raise BdpbenchError(
                f"metric {made.metric} needs table {table!r}, which no run can have",
                where=where,
                hint=f"known tables: {', '.join(TABLE_KEYS)}",
            )
    return made


def _group_metric(words: GroupWords, place: tuple[str, int], compute: OfGroup) -> GroupMetric:
    made = _made(GroupMetric, words, place, compute)
    if not made.metrics:
        raise BdpbenchError(
            f"metric {made.metric} names no metric that it is made of", where=_line(place)
        )
    return made


def _made(
    kind: Callable[..., D],
    words: Words,
    place: tuple[str, int],
    compute: Callable[..., Any],
    **more: str,
) -> D:
    """A metric of a kind, noted with the file that declares it."""
    key = words.get("name") or _name_of(compute)
    where = _line(place)
    if not key:
        raise BdpbenchError(
            "a metric has no name", where=where, hint='give one to the decorator: name="…"'
        )
    rest = {name: each for name, each in words.items() if name != "name"}
    try:
        made = kind(metric=key, compute=compute, **rest, **more)
    except TypeError as error:  # a word that is missing, or that there is not
        said = str(error).split("__init__() ")[-1]
        raise BdpbenchError(f"metric {key}: its declaration {said}", where=where) from error
    for what in ("unit", "text", "source"):
        if not getattr(made, what).strip():
            raise BdpbenchError(f"metric {key} has no {what}", where=where)
    DECLARED.setdefault(place[0], []).append(made)
    return made


def _place() -> tuple[str, int]:
    """File and line that call a decorator."""
    frame = sys._getframe(2)
    return frame.f_code.co_filename, frame.f_lineno


def _line(place: tuple[str, int]) -> str:
    return f"{place[0]}:{place[1]}"


def _name_of(function: Callable[..., Any]) -> str:
    """The function's own name; "" for a lambda, a partial or another object."""
    name = str(getattr(function, "__name__", ""))
    return name if name.isidentifier() else ""


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
