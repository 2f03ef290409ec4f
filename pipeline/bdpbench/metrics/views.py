"""Views, the subjects of metrics: a run, its flows and its links.

A view gives the tables and parameters of its run to metrics, and caches what several of them need
(such as the cuts of a flow's cwnd), so that it is computed once per run.

Windows are half-open on the left, ``(start_s, end_s]``: see ``series.in_window``.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, TypeVar

import polars as pl

from bdpbench.contracts.plan import Scalar
from bdpbench.contracts.runs import TABLE_KEYS
from bdpbench.errors import BdpbenchError
from bdpbench.metrics.definition import Window
from bdpbench.metrics.series import PEAK_SHARE, find_cuts, in_window, queueing_delays
from bdpbench.metrics.series import mean as mean_of
from bdpbench.units import total

PACKET_FLOWS = "packet_flows"
"""Table of a run with ``trace: stream``: what its flows sent, received and lost."""

COMMON_LINK = "bottleneck"
"""Name of the only bottleneck, and prefix of the parameters of all bottlenecks."""

FACTS = "facts"
"""Table of what a script itself has counted for flows and links."""

T = TypeVar("T")

_MAX_MISSING_END_S = 1.0
# A change of a link's rate in a plan: 5 from 20 s.
_RATE_SINCE = re.compile(r"([0-9.eE+-]+) from ([0-9.eE+-]+) s")


class View:
    """A run, or a part of one.

    Attributes:
        run: the whole run.
        subject: name as in metrics.parquet: "flow:0", "link:bottleneck", "run".
    """

    run: RunView
    subject: str

    def own_name(self, name: str) -> str:
        """The name under which the run has a parameter of this view."""
        return name

    def fact(self, name: str) -> float | None:
        """A number of the script's report, in its unit; None if the report does not have it."""
        return self.run.facts.get((self.subject, name))

    def has(self, name: str) -> bool:
        """Whether the run has a parameter."""
        return self.given(name) is not None

    def given(self, name: str) -> Scalar | None:
        """The value of a parameter; None if the run does not have it."""
        return self.run.parameters.get(self.own_name(name))

    def number(self, name: str) -> float:
        """A numeric parameter, in the unit of its name.

        Raises:
            BdpbenchError: when it is not a number.
        """
        value = self.given(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise BdpbenchError(
                f"parameter {self.own_name(name)} is {value!r}: its metrics need a number",
                where=self.run.where,
            )
        return float(value)

    def word(self, name: str) -> str:
        """A parameter that is a word; "" if the run does not have it."""
        value = self.given(name)
        return "" if value is None else str(value)

    def positive(self, name: str) -> float:
        """A parameter above 0, in the unit of its name.

        Raises:
            BdpbenchError: when it is not.
        """
        value = self.number(name)
        if not value > 0:
            raise BdpbenchError(
                f"parameter {self.own_name(name)} is {value:g}: expected more than 0",
                where=self.run.where,
            )
        return value


class RunView(View):
    """A run: its parameters and tables.

    Attributes:
        where: name of the run, for errors.
        parameters: name → value of its parameters, in which flows and links find their own.
        duration_s: how long it was simulated, s.

    Args:
        parameters: name → value; duration_s (s) is needed.
        tables: name → rows, in the order of time within a flow or link; read when asked for.
        where: name of the run, for errors.

    Raises:
        BdpbenchError: when duration_s is missing or no number above 0.
    """

    subject = "run"

    def __init__(
        self, parameters: Mapping[str, Scalar], tables: Mapping[str, pl.LazyFrame], where: str
    ) -> None:
        self.run, self.where = self, where
        self.parameters, self._tables = parameters, tables
        self._frames: dict[str, pl.DataFrame] = {}
        self._series: dict[str, dict[Any, pl.DataFrame]] = {}
        self._flows: dict[int, FlowView] = {}
        self._links: dict[str, LinkView] = {}
        self.computed: dict[Callable[[RunView], Any], Any] = {}  # by ``once``
        self.duration_s = self.positive("duration_s")

    def table(self, name: str) -> pl.DataFrame:
        """A table of the run.

        Raises:
            BdpbenchError: when the run does not have it.
        """
        if name not in self._tables:
            raise BdpbenchError(
                f"a metric reads table {name}, which the run does not have",
                where=self.where,
                hint="name it among the tables of its decorator: runs without it do not have the "
                "metric then",
            )
        if name not in self._frames:
            self._frames[name] = self._tables[name].collect()
        return self._frames[name]

    def series(self, name: str) -> Mapping[Any, pl.DataFrame]:
        """Flow or link → its rows of a table, sorted by flow or link."""
        frame, key = self.table(name), TABLE_KEYS[name]
        if name not in self._series and key is not None:
            parts = frame.partition_by(key, as_dict=True, maintain_order=True)
            self._series[name] = {each: parts[(each,)] for (each,) in sorted(parts)}
        return self._series[name]

    def flow(self, index: int) -> FlowView:
        """One of the run's flows, counted from 0."""
        return self._flows.setdefault(index, FlowView(self, index))

    def link(self, name: str) -> LinkView:
        """One of the run's links."""
        return self._links.setdefault(name, LinkView(self, name))

    def flows(self, table: str) -> list[FlowView]:
        """The flows that a table has rows for, by number."""
        if table == PACKET_FLOWS:
            data = self.table(table).filter(pl.col("kind") == "data")
            return [self.flow(int(each.removeprefix("flow:"))) for each in data["subject"]]
        if table == FACTS:
            return [self.flow(int(each)) for each in self._reported("flow")]
        return [self.flow(index) for index in self.series(table)]

    def links(self, table: str) -> list[LinkView]:
        """The links that a table has rows for, by name."""
        if table == FACTS:
            return [self.link(name) for name in self._reported("link")]
        return [self.link(name) for name in self.series(table)]

    def _reported(self, kind: str) -> list[str]:
        """The subjects of a kind in the script's report, each once."""
        subjects = dict.fromkeys(subject for subject, _ in self.facts)
        return [each.partition(":")[2] for each in subjects if each.startswith(f"{kind}:")]

    @cached_property
    def facts(self) -> Mapping[tuple[str, str], float]:
        """Subject and name of each number in the script's report → the number, in its unit."""
        rows = self.table(FACTS).select("subject", "name", "value").iter_rows()
        return {(subject, name): value for subject, name, value in rows}

    @cached_property
    def mean_throughputs(self) -> list[float | None]:
        """Mean throughput of each flow over the second half of the run, Mbit/s."""
        flows = self.series("throughput").values()
        return [mean_of(bins, "mbps", second_half(self)) for bins in flows]

    def check_coverage(self) -> None:
        """Refuse a series that ends early, since its means would cover another window.

        Raises:
            BdpbenchError: when one ends more than a second (or a sampling interval) before
                duration_s.
        """
        for table, key in TABLE_KEYS.items():
            if key is None or table not in self._tables:
                continue
            for subject, frame in self.series(table).items():
                times_s = frame["time_s"]
                step_s = times_s.diff().max()
                missing_s = self.duration_s - float(times_s[-1])
                if missing_s > max(_MAX_MISSING_END_S, step_s if isinstance(step_s, float) else 0):
                    raise BdpbenchError(
                        f"table {table} of {key} {subject} ends at {times_s[-1]:g} s, the run "
                        f"lasts {self.duration_s:g} s",
                        where=self.where,
                        hint="remove the run's folder and run again",
                    )


def once(compute: Callable[[RunView], T]) -> Callable[[RunView], T]:
    """A function of a run that is computed once for each run, however many flows ask for it."""

    @functools.wraps(compute)
    def known(run: RunView) -> T:
        if compute not in run.computed:
            run.computed[compute] = compute(run)
        found: T = run.computed[compute]
        return found

    return known


class FlowView(View):
    """A flow of a run; ``index`` counts from 0."""

    def __init__(self, run: RunView, index: int) -> None:
        self.run, self.subject = run, f"flow:{index}"
        self.index = index

    def own_name(self, name: str) -> str:
        """A flow's own parameter, ``rtt_1_ms`` of the first flow, precedes ``rtt_ms``."""
        stem, _, unit = name.rpartition("_")
        own = f"{stem}_{self.index + 1}_{unit}" if stem else f"{name}_{self.index + 1}"
        return own if self.run.parameters.get(own) is not None else name

    def has_own(self, name: str) -> bool:
        """Whether the run has a parameter of this flow in addition to that of all flows."""
        return self.has(name) and self.own_name(name) != name

    def rows(self, table: str) -> pl.DataFrame:
        """The flow's rows of a table."""
        if table == PACKET_FLOWS:
            return self.run.table(table).filter(
                (pl.col("subject") == self.subject) & (pl.col("kind") == "data")
            )
        return self.run.series(table)[self.index]

    @property
    def cwnd(self) -> pl.DataFrame:
        """time_s (f64, s), cwnd_pkts (f64, packets)."""
        return self.rows("cwnd")

    @property
    def ssthresh(self) -> pl.DataFrame:
        """time_s (f64, s), ssthresh_pkts (f64, packets), at the times of cwnd."""
        return self.rows("ssthresh")

    @property
    def throughput(self) -> pl.DataFrame:
        """time_s (f64, s, end of the bin), mbps (f64, Mbit/s)."""
        return self.rows("throughput")

    @property
    def rtt_s(self) -> float:
        """The flow's nominal RTT, s; needs rtt_ms."""
        return self.positive("rtt_ms") / 1e3

    @property
    def full_pkts(self) -> float:
        """Packets of cwnd that count as having reached the nominal BDP; needs bdp_pkts."""
        return PEAK_SHARE * self.positive("bdp_pkts")

    @cached_property
    def cuts(self) -> pl.DataFrame:
        """The flow's cuts, as ``find_cuts`` returns them, with their number in ``cut``."""
        return find_cuts(self.cwnd, self.rtt_s).with_row_index("cut")

    @cached_property
    def full_cuts(self) -> pl.DataFrame:
        """The cuts from a full peak, at or above 90 % of the nominal BDP."""
        return self.cuts.filter(pl.col("peak_pkts") >= self.full_pkts)


class LinkView(View):
    """A link of a run, by its name in the tables."""

    def __init__(self, run: RunView, name: str) -> None:
        self.run, self.subject = run, f"link:{name}"
        self.name = name

    def own_name(self, name: str) -> str:
        """A link's own parameter, ``bottleneck_2_mbps``, precedes ``bottleneck_mbps``."""
        own = f"{self.name}_{name.removeprefix(COMMON_LINK + '_')}"
        is_own = name.startswith(f"{COMMON_LINK}_") and self.run.parameters.get(own) is not None
        return own if is_own else name

    def rows(self, table: str) -> pl.DataFrame:
        """The link's rows of a table."""
        return self.run.series(table)[self.name]

    @property
    def rates(self) -> pl.DataFrame:
        """since_s (f64, s), mbps (f64, Mbit/s); needs bottleneck_mbps, bottleneck_mbps_changes."""
        changes = _RATE_SINCE.findall(self.word("bottleneck_mbps_changes"))
        rows = [(0.0, self.positive("bottleneck_mbps"))]
        rows += [(float(since_s), float(mbps)) for mbps, since_s in changes]
        return pl.DataFrame(rows, schema={"since_s": pl.Float64, "mbps": pl.Float64}, orient="row")

    def capacity_mbps(self, window: Window) -> float:
        """Mean of the link's nominal rate over a window, Mbit/s; needs what ``rates`` needs."""
        start_s, end_s = window
        rows = self.rates.rows()
        if len(rows) == 1 or end_s <= start_s:
            return float(rows[0][1])
        ends_s = [since_s for since_s, _ in rows[1:]] + [end_s]
        carried = total(
            mbps * max(0.0, min(until_s, end_s) - max(since_s, start_s))
            for (since_s, mbps), until_s in zip(rows, ends_s, strict=True)
        )
        return carried / (end_s - start_s)

    @cached_property
    def queueing_delays_ms(self) -> pl.Series:
        """The queueing delay of each sample of the second half: the time to send the queue, ms."""
        late = self.queue.filter(in_window(*second_half(self)))
        size_bytes = (self.fact("bytes") or 0.0) / (self.fact("packets") or 1.0)
        return queueing_delays(late, size_bytes, self.rates)["ms"]

    @property
    def departures(self) -> pl.DataFrame:
        """time_s (f64, s, end of the bin), mbps (f64, Mbit/s); from table utilization."""
        return self.rows("utilization")

    @property
    def queue(self) -> pl.DataFrame:
        """time_s (f64, s), pkts (i64, packets), drops (i64, packets since the start)."""
        return self.rows("queue")


def counted(view: View) -> Window:
    """The window over which the script's report counts.

    Raises:
        BdpbenchError: when the report does not give it.
    """
    start_s, end_s = view.fact("window_start"), view.fact("window_end")
    if start_s is None or end_s is None:
        raise BdpbenchError(
            f"the report counts {view.subject} and does not say over which window",
            where=view.run.where,
        )
    return start_s, end_s


def second_half(view: View) -> Window:
    """The second half of the run, ``(duration/2, duration]``."""
    return (view.run.duration_s / 2, view.run.duration_s)
