"""What runs, scenarios, protocols and parameters are called, and how their lines look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bdpbench.contracts.plan import Plan, ScenarioText
from bdpbench.pages.assets import Captions
from bdpbench.pages.study_page import StudyPage
from bdpbench.pages.sweeps import Protocols, colour_of, dash_of, is_protocol, label_of


@dataclass(frozen=True)
class RunLink:
    """A run that a number comes from; ``known`` when the page has a section for it."""

    run_id: str
    label: str
    known: bool


class Names:
    """Looks names of runs, scenarios, protocols and parameters up.

    Args:
        plan: with the names of its runs, scenarios and protocols.
        captions: words of all reports.
        page: words of the study's, which go before.
    """

    def __init__(self, plan: Plan, captions: Captions, page: StudyPage | None = None) -> None:
        self.page = page or StudyPage()
        self.captions = replace(
            captions,
            parameters={**captions.parameters, **self.page.parameters},
            protocol_sweeps={**captions.protocol_sweeps, **self.page.protocol_sweeps},
        )
        self.protocols: Protocols = plan["protocols"]
        self.scenarios: Mapping[str, ScenarioText] = plan["scenarios"]
        self._runs = {run["run_id"]: str(run["label"]) for run in plan["runs"]}

    def run(self, run_id: str) -> RunLink:
        """Link to a run; one that the plan does not hold is named by its id."""
        return RunLink(run_id, self._runs.get(run_id, run_id), run_id in self._runs)

    def protocol(self, key: str) -> str:
        """Label of a protocol."""
        return label_of(key, self.protocols)

    def colour(self, key: str) -> str:
        """Colour of a protocol; a neutral one for what is none."""
        return colour_of(key, self.protocols)

    def dash(self, key: str) -> tuple[int, ...]:
        """Dashes of a protocol's line, see ``dash_of``."""
        return dash_of(key, self.protocols)

    def protocols_in(self, selected: Mapping[str, str]) -> tuple[str, ...]:
        """Labels of the protocols that a selector names, each once."""
        keys = [value for name, value in selected.items() if is_protocol(name)]
        return tuple(self.protocol(key) for key in dict.fromkeys(keys))

    def evidence(self, label: str) -> str:
        """A label of evidence, ``<metric id>, <run>``, with the metric in words."""
        metric, comma, run = label.partition(", ")
        return f"{self.captions.metrics.get(metric, metric)}{comma}{run}"

    def scenario(self, key: str) -> str:
        """Title of a scenario."""
        return self.scenarios[key]["title"] if key in self.scenarios else key
