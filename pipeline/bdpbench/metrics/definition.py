"""The definition of a metric: a decorated function, and everything about it.

A metric of a run is a function of a view (``views.py``) of a flow, of a link or of the whole run,
one of several runs a function of a ``Group`` (``groups.py``). Its docstring is the definition that
readers of a report see; names in braces are constants of its module or of this one. The decorator
declares the rest: unit, title, source, and the tables and parameters without which a run does not
have the metric. ``family`` declares several at once: statistics of the same samples. Any callable
will do, closures and partials included, which are given a ``name`` and a ``text``.

The version of a definition is set by hand: it changes with what the values mean.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypedDict, TypeVar, Unpack

from bdpbench.contracts.judged import BETTER, Better
from bdpbench.errors import BdpbenchError
from bdpbench.later import pl

if TYPE_CHECKING:
    from bdpbench.contracts.runs import Definition as DefinitionDocument
    from bdpbench.metrics.groups import Group, Row
    from bdpbench.metrics.views import FlowView, LinkView, RunView, View

# What several metrics share: levels and windows, sources and sentences, which docstrings may name.

FAIR_ASYMMETRY = 0.3
"""Largest |asymmetry| of two flows that counts as fair: the faster has at most 65 %."""

CONVERGENCE_WINDOW_S = 10.0
"""Time in s over which two flows have to share fairly to count as converged."""

CONVERGED_RATIO = 0.8
"""Smallest ratio of the slowest to the fastest flow that counts as having converged."""

CONVERGED_WINDOW_S = 20.0
"""Time in s over which flows have to have that ratio to count as having converged."""

THESIS = "Sharma (2006)"
ZHANG = (
    "Zhang, Hasegawa and Murata, Performance Analysis and Improvement of HighSpeed TCP with "
    "TailDrop/RED Routers"
)
EVEN = "Even, Li and Leith, Evaluating the Performance of TCP Stacks for High-Speed Networks"

CUT = (
    "A cut is a fall of cwnd by at least 5 % between two samples; falls less than one nominal RTT "
    "apart answer the same loss event and count as one cut. The peak of a cut is the last sample "
    "before it."
)
FULL = "at or above 90 % of the nominal bandwidth-delay product"
HALF = "the second half of the run, (duration/2, duration]"
BINS = "A bin belongs to the window when its end does."
COUNTED = "over the window that the script's report counts, the second half of the run"
DEPARTURES = "Departures from the bottleneck's queue"
WITH_ALL = "headers and retransmissions included"

OF_GROUPS = (
    "Groups are those that the scenario names, in the order of their first flows; transfers of "
    "finite size are left out."
)
OF_SHARE = (
    f"x_i is the flow's throughput, {WITH_ALL}, over its max-min fair share of the nominal rates "
    "of its access link and of the bottlenecks of its path, of which nothing is taken off for what "
    "sends beside the flows; transfers of finite size are left out"
)

SETTLED = (
    "For a flow that has no such peak and holds its cwnd within 1 % over the last quarter of the "
    "run, {} it first comes within 1 % of that level."
)
AFTER_FIRST_FULL_PEAK = (
    "that follow the first full peak's own cut (a full peak is at or above 90 % of the nominal BDP)"
)
ASYMMETRY = "(x1 - x2)/(x1 + x2), where x1 and x2 are the mean throughputs of the first and the"

Subject = Literal["flow", "link", "run", "receiver", "node", "drops", "type"]
Level = Literal["run", "group"]

Window = tuple[float, float]
"""Start and end, in s."""

D = TypeVar("D", bound="Definition")
V = TypeVar("V")
OfGroup: TypeAlias = "Callable[[Group], Iterator[tuple[Row, float | None]]]"
Place: TypeAlias = tuple[str, int]


def whole(view: View) -> Window:
    """The whole run."""
    return (0.0, view.run.duration_s)


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
        better, apart, reference: how values are judged, see ``JudgedDocument``.
    """

    metric: str
    subject: Subject
    level: Level = "run"
    unit: str
    text: str
    source: str
    title: str
    version: int | str = 1
    better: Better = ""
    apart: float = 0.0
    reference: float | None = None

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
            "better": self.better,
            "apart": self.apart,
            "reference": self.reference,
        }


@dataclass(frozen=True, kw_only=True)
class Metric(Definition):
    """A metric of one run.

    Attributes:
        tables: a run without them does not have the metric; for a flow or link metric, the flows or
            links of the first table are measured.
        parameters: likewise for parameters; a flow's own parameter (``rtt_1_ms``) replaces that of
            all flows (``rtt_ms``).
        window: the time that a value covers, in s.
        when: condition for views that have the tables and parameters to have the metric.
        compute: the value; None: never reached or not defined.
    """

    tables: tuple[str, ...]
    parameters: tuple[str, ...] = ()
    window: Callable[[Any], Window] = whole
    when: Callable[[Any], bool] | None = None
    compute: Callable[[Any], float | None]

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


DECLARED: dict[str, list[Definition]] = {}
"""File → the metrics that it has declared, in order, whatever it has bound them to."""


class Words(TypedDict, total=False):
    """What a decorator may declare beside unit, title and source; see ``Metric``.

    ``name`` stands for the function's own, ``text`` for its docstring.
    """

    name: str
    text: str
    version: int | str
    better: Better
    apart: float
    reference: float
    tables: tuple[str, ...]
    parameters: tuple[str, ...]
    window: Callable[[Any], Window]
    when: Callable[[Any], bool]


class RunDecorator(Generic[V]):
    """Makes a function of a flow, a link or a whole run a metric with its name.

    Raises:
        BdpbenchError: for no table or an unknown one, and for missing texts.
    """

    def __init__(self, subject: Literal["flow", "link", "run"]) -> None:
        self._subject: Subject = subject

    def __call__(
        self, unit: str, title: str, source: str, **words: Unpack[Words]
    ) -> Callable[[Callable[[V], float | None]], Metric]:
        """The decorator of a metric; see ``Metric`` for the arguments."""
        told: dict[str, object] = {"unit": unit, "title": title, "source": source, "tables": ()}
        told |= words
        place = _place()

        def declare(compute: Callable[[V], float | None]) -> Metric:
            return _checked(_declared(Metric, compute, place, told, self._subject), place)

        return declare


flow_metric: RunDecorator[FlowView] = RunDecorator("flow")
link_metric: RunDecorator[LinkView] = RunDecorator("link")
run_metric: RunDecorator[RunView] = RunDecorator("run")


def group_metric(
    unit: str, title: str, source: str, *, metrics: tuple[str, ...], **words: Unpack[Words]
) -> Callable[[OfGroup], GroupMetric]:
    """Make a function of several runs a metric with its name; see ``GroupMetric``.

    Raises:
        BdpbenchError: for missing texts.
    """
    told: dict[str, object] = {"unit": unit, "title": title, "source": source, "metrics": metrics}
    told |= words
    return functools.partial(_declared, GroupMetric, place=_place(), told=told, subject="run")


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
    of: Callable[[pl.Series], object]

    def value(self, samples: pl.Series) -> float | None:
        """The number of these samples; None without samples."""
        found = self.of(samples)
        return float(found) if isinstance(found, (int, float)) else None


MEAN = Statistic("mean", "Mean", "Mean", lambda samples: samples.mean())


def percentile(rank: int) -> Statistic:
    """The nearest-rank percentile.

    >>> percentile(93).title, percentile(95).value(pl.Series([1, 2, 3]))
    ('93rd percentile of the', 3.0)
    >>> percentile(50).value(pl.Series([4, 1, 3, 2])), percentile(99).value(pl.Series([]))
    (2.0, None)
    """

    def of(samples: pl.Series) -> object:
        place = max(math.ceil(len(samples) * rank / 100), 1) - 1
        return samples.sort()[place] if len(samples) else None

    ending = {1: "st", 2: "nd", 3: "rd"}.get(rank % 10 if rank // 10 != 1 else 0, "th")
    nth = f"{rank}{ending} percentile"
    least = f"the smallest value that at least {rank} in 100 do not exceed"
    return Statistic(f"p{rank}", f"{nth} of the", f"The {nth} ({least}) of the", of)


def family(
    decorator: Callable[..., Callable[[Callable[[V], float | None]], Metric]],
    *statistics: Statistic,
    title: str,
    name: str = "",
    text: str = "",
) -> Callable[[Callable[[V], pl.Series]], tuple[Metric, ...]]:
    """Make a function that returns the samples of a view a metric for each statistic of them.

    Names, titles and texts are those of the statistic followed by those of the family:
    ``p95_queueing_delay``, "95th percentile of the queueing delay".

    Args:
        decorator: declares what the metrics have in common, as a partial ``link_metric``.
        statistics: each makes a metric.
        title: how their titles go on.
        name: how their names go on; the function's own by default.
        text: how their texts go on; the function's docstring by default.
    """

    def declare(samples: Callable[[V], pl.Series]) -> tuple[Metric, ...]:
        rest, text_ = name or _name_of(samples), text or _text_of(samples)
        return tuple(
            decorator(
                name=f"{each.name}_{rest}",
                title=f"{each.title} {title}",
                text=f"{each.text} {text_}",
            )(functools.partial(_statistic_of, samples, each))
            for each in statistics
        )

    return declare


def _statistic_of(samples: Callable[[V], pl.Series], statistic: Statistic, view: V) -> float | None:
    return statistic.value(samples(view))


def _declared(
    kind: Callable[..., D],
    compute: Callable[..., Any],
    place: Place,
    told: dict[str, object],
    subject: Subject,
) -> D:
    """A metric of a kind, noted with the file that declares it."""
    where = f"{place[0]}:{place[1]}"
    name = str(told.pop("name", "")) or _name_of(compute)
    text = told.pop("text", "") or _text_of(compute)
    if not name:
        raise BdpbenchError(
            "a metric has no name", where=where, hint='give one to the decorator: name="…"'
        )
    try:
        made = kind(metric=name, subject=subject, text=text, compute=compute, **told)
    except TypeError as error:
        said = str(error).partition("() ")[2]
        raise BdpbenchError(f"metric {name}: its declaration {said}", where=where) from error
    for what in ("unit", "text", "source"):
        if not getattr(made, what).strip():
            raise BdpbenchError(f"metric {name} has no {what}", where=where)
    _check_judged(made, where)
    DECLARED.setdefault(place[0], []).append(made)
    return made


def _check_judged(made: Definition, where: str) -> None:
    """Refuse a direction that cannot judge values."""
    said = ""
    if made.better not in BETTER:
        said = f"better={made.better!r}: expected more, less or nearest"
    elif made.better and not made.apart > 0:
        said = "better needs apart, the smallest difference that counts"
    elif made.apart and not made.better:
        said = "apart needs better: more, less or nearest"
    elif made.better == "nearest" and made.reference is None:
        said = 'better="nearest" needs reference'
    if said:
        raise BdpbenchError(f"metric {made.metric}: {said}", where=where)


def _checked(metric: Metric, place: Place) -> Metric:
    from bdpbench.contracts.runs import TABLE_KEYS  # which packet traces are measured without

    where = f"{place[0]}:{place[1]}"
    if not metric.tables:
        raise BdpbenchError(
            f"metric {metric.metric} names no table that it is measured on", where=where
        )
    for table in metric.tables:
        if table not in TABLE_KEYS:
            raise BdpbenchError(
                f"metric {metric.metric} needs table {table!r}, which no run can have",
                where=where,
                hint=f"known tables: {', '.join(TABLE_KEYS)}",
            )
    return metric


def _place() -> Place:
    """File and line that call a decorator."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename == __file__ and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def _name_of(function: object) -> str:
    """The function's own name; "" for a lambda, a partial or another object."""
    name = str(getattr(function, "__name__", ""))
    return name if name.isidentifier() else ""


def _text_of(function: object) -> str:
    """The docstring of a function, in one line; names in braces are those of its module."""
    names = getattr(function, "__globals__", None)
    text = function.__doc__ if isinstance(names, dict) else None
    return " ".join(text.format_map({**globals(), **names}).split()) if text and names else ""


def common_name(parameter: str) -> str:
    """The name of the parameter of all flows that a flow's own parameter overrides.

    >>> common_name("rtt_1_ms"), common_name("protocol_2"), common_name("flow2_start_s")
    ('rtt_ms', 'protocol', 'flow2_start_s')
    """
    return "_".join(part for part in parameter.split("_") if not part.isdecimal())
