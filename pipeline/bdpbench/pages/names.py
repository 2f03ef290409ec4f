"""Names of runs, scenarios, protocols and parameters, and the styles of their lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bdpbench.contracts.plan import Plan, ScenarioText
from bdpbench.contracts.runs import Definition
from bdpbench.pages.assets import Captions
from bdpbench.pages.study_page import StudyPage
from bdpbench.pages.sweeps import (
    Protocols,
    colour_of,
    dash_of,
    find_sweep,
    grouped,
    is_protocol,
    label_of,
    labels_apart,
    protocol_label,
    varying_parameters,
)
from bdpbench.pages.text import ParameterWords


@dataclass(frozen=True)
class RunLink:
    """A run that a number comes from; ``known`` if the page has a section for it."""

    run_id: str
    label: str
    known: bool


class Names:
    """The names of runs, scenarios, protocols, metrics and parameters for readers.

    Args:
        plan: the plan, with the names of its runs, scenarios and protocols.
        captions: words of all reports.
        definitions: definitions of all metrics, with their names.
        page: the study's own words, which take precedence.
    """

    def __init__(
        self,
        plan: Plan,
        captions: Captions,
        definitions: Sequence[Definition],
        page: StudyPage | None = None,
    ) -> None:
        self.page = page or StudyPage()
        sweeps = {**captions.protocol_sweeps, **self.page.protocol_sweeps}
        self.captions = replace(captions, protocol_sweeps=sweeps)
        self.parameters = ParameterWords(
            {**captions.parameters, **self.page.parameters},
            {name: each["unit"] for name, each in plan["parameters"].items()},
            {name: each.get("labels", {}) for name, each in plan["parameters"].items()},
        )
        self.protocols: Protocols = plan["protocols"]
        self.scenarios: Mapping[str, ScenarioText] = plan["scenarios"]
        self._metrics = {each["metric"]: each["title"] for each in definitions}
        self._planned = {run["run_id"]: run for run in plan["runs"]}
        # If two scenarios share a run, the last one names it.
        self._runs: dict[str, str] = {}
        for runs in grouped(plan["runs"], lambda run: run["scenario"]).values():
            self._runs |= labels_apart(runs, self.parameters)

    def run(self, run_id: str) -> RunLink:
        """Link to a run; a run that is not in the plan is named by its id."""
        return RunLink(run_id, self._runs.get(run_id, run_id), run_id in self._runs)

    def who(self, run_id: str) -> str:
        """Protocols of a run, or its label if it names none."""
        run = self._planned.get(run_id)
        return run_id if run is None else protocol_label(run, self.protocols)

    def varying(self, run_ids: Sequence[str]) -> list[str]:
        """Parameters that differ between some of the runs and do not follow from others."""
        sweep = find_sweep([self._planned[each] for each in run_ids if each in self._planned])
        return [sweep.main, *sweep.others] if sweep.main else list(sweep.others)

    def common(self, run_ids: Sequence[str], parameters: Sequence[str]) -> list[str]:
        """Those of some parameters that have the same value in all of the runs, with the values."""
        runs = [self._planned[each] for each in run_ids if each in self._planned]
        differ = set(varying_parameters(runs))
        given = runs[0]["parameters"] if runs else {}
        return [
            self.parameters.with_value(name, given[name])
            for name in parameters
            if name in given and name not in differ
        ]

    def swept(self, scenario: str) -> Sequence[str] | None:
        """Parameters that a study sweeps in a scenario; None if the plan does not record them."""
        return self.scenarios[scenario].get("swept")

    def metric(self, metric: str) -> str:
        """Name of a metric; if no definition has one, its id with blanks."""
        return self._metrics.get(metric) or metric.replace("_", " ")

    def protocol(self, key: str) -> str:
        """Label of a protocol."""
        return label_of(key, self.protocols)

    def colour(self, key: str) -> str:
        """Colour of a protocol, or a neutral colour if the key is not a protocol."""
        return colour_of(key, self.protocols)

    def dash(self, key: str, nth: int = 0) -> tuple[int, ...]:
        """Dashes of a protocol's line, see ``dash_of``."""
        return dash_of(key, self.protocols, nth)

    def protocols_in(self, selected: Mapping[str, str]) -> tuple[str, ...]:
        """Labels of the protocols that a selector names, each once."""
        keys = [value for name, value in selected.items() if is_protocol(name)]
        return tuple(self.protocol(key) for key in dict.fromkeys(keys))

    def evidence(self, label: str) -> str:
        """A label of evidence, ``<metric id>, <run>``, with the metric in words."""
        metric, comma, run = label.partition(", ")
        return f"{self._metrics.get(metric) or metric}{comma}{run}"

    def scenario(self, key: str) -> str:
        """Title of a scenario."""
        return self.scenarios[key]["title"] if key in self.scenarios else key
