"""The report of an evaluation: one HTML file that answers first and opens offline.

It measures and judges nothing: values, ranks and answers are those of the document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from bdpbench import __version__
from bdpbench.contracts.evaluation import (
    Answer,
    Criterion,
    EvaluatedProtocol,
    Evaluation,
    Figure,
    Judgement,
    Ranked,
    found_of,
)
from bdpbench.contracts.judged import direction, rounded
from bdpbench.pages import text
from bdpbench.pages.evaluation.findings import (
    MOVES,
    Changes,
    Character,
    Findings,
    changes_of,
    characters_of,
    criterion_anchor,
    figure_anchor,
    findings_of,
    is_known,
    ordinal,
    value_of,
)
from bdpbench.pages.evaluation.parts import (
    MOST_NAMED,
    Parts,
    few_digits,
    interval,
    value_text,
)
from bdpbench.pages.html import embedded, page_environment
from bdpbench.pages.series import embed_json
from bdpbench.pages.specs import Chart
from bdpbench.pages.text import Verdict, format_number, listed
from bdpbench.pages.texts import Elsewhere
from bdpbench.units import several

MEETS = Verdict("holds", "meets it", "✓", 2)
MEETS_NOT = Verdict("fails", "does not meet it", "✗", 0)
NOT_KNOWN = Verdict("not_run", "not known", "○", 3)
NOT_SHOWN = Verdict("not_run", "not simulated", "–", 4)

SECTIONS: Mapping[str, str] = {
    "5.1": "The protocol with itself alone",
    "5.2": "The protocol beside others",
    "5.3": "What else is asked",
    "6": "General use",
    "7": "Special cases",
}
"""Section of RFC 9743 → what its criteria are about, in our words."""


MANY = 12
"""Of more protocols, the page says something about all, and shows figures against each other."""


@dataclass(frozen=True)
class EvaluationReport:
    """Everything that the page and the files show; made once.

    Attributes:
        judgement: see ``contracts/evaluation.py``.
        earlier: name of the evaluation that it is compared with, and that evaluation, if any.
        elsewhere: key of an evaluated protocol → what reports of other studies say about it.
    """

    judgement: Judgement
    earlier: tuple[str, Judgement] | None = None
    elsewhere: Mapping[str, Sequence[Elsewhere]] = field(default_factory=dict)

    @cached_property
    def parts(self) -> Parts:
        """Tables and charts of the cells."""
        return Parts(self.judgement)

    @property
    def evaluation(self) -> Evaluation:
        """The document."""
        return self.judgement.evaluation

    @cached_property
    def standings(self) -> list[tuple[EvaluatedProtocol, list[tuple[Figure, Ranked | None]]]]:
        """Rows of the first table: the protocols that have a value of any figure."""
        figures = self.judgement.figures
        rows = [
            (each, [(figure, value_of(figure, each.key)) for figure in figures])
            for each in self.evaluation.protocols
        ]
        return [
            (protocol, found)
            for protocol, found in rows
            if protocol.evaluated or any(each and each["value"] is not None for _, each in found)
        ]

    @property
    def is_league(self) -> bool:
        """Whether there are many protocols, whether evaluated or not."""
        return len(self.standings) > MANY

    @cached_property
    def characters(self) -> list[tuple[EvaluatedProtocol, Character]]:
        """What is said of each protocol, in the order of their names."""
        said = characters_of(self.judgement)
        known = [(each, said[each.key]) for each, _ in self.standings if each.key in said]
        return sorted(known, key=lambda each: each[0].label.casefold())

    @property
    def harm(self) -> str:
        """Which of many protocols harm whom, in a sentence or two."""
        groups = dict[str, list[str]]()
        for each, said in self.characters:
            groups.setdefault(said.harmed, []).append(each.label)
        harmless, many = len(groups.pop("", [])), len(self.characters)
        told = []
        for whom, labels in groups.items():
            perhaps = "perhaps " if whom.startswith("perhaps ") else ""
            verb = "harms" if len(labels) == 1 else "harm"
            who, whom = listed(labels, len(labels)), whom.removeprefix(perhaps)
            told.append(f"{who} {perhaps}{verb} {whom}")
        if not told:
            return f"None of {many} protocols harms those that were asked about."
        rest = f"{harmless} of {many} protocols harm none of those that were asked about"
        return f"{'; '.join(told)}. {rest}."

    @cached_property
    def leads(self) -> list[Chart]:
        """The charts that the page begins with, of two figures each; of few protocols one."""
        figures = {
            each.key: Figure(each.key, each.file.text, column, each.values)
            for each in self.judgement.criteria
            if (column := each.column) is not None
        }
        figures |= {each.key: each for each in self.judgement.figures}
        pairs = [pair for study in self.evaluation.studies for pair in study.against]
        drawn = [
            self.parts.against(f"against-{x}-{y}", figures[x], figures[y])
            for x, y in (pairs if self.is_league else pairs[:1])
            if {x, y} <= figures.keys()
        ]
        return [each for each in drawn if each is not None]

    @cached_property
    def findings(self) -> list[tuple[EvaluatedProtocol, Findings]]:
        """What is said about each evaluated protocol."""
        return [(each, findings_of(self.judgement, each.key)) for each in self.evaluation.evaluated]

    @cached_property
    def criteria(self) -> dict[str, list[Criterion]]:
        """Criteria by section of RFC 9743, with a title of each section."""
        found: dict[str, list[Criterion]] = {}
        for each in self.judgement.criteria:
            first, *rest = each.file.section.split(".")
            name = next((k for k in (".".join([first, *rest[:1]]), first) if k in SECTIONS), "")
            title = SECTIONS.get(name, f"Section {each.file.section}")
            found.setdefault(title, []).append(each)
        return found

    def answers(self, *criteria: Criterion) -> list[tuple[str, Verdict, str, Sequence[str]]]:
        """Label, verdict, words and runs of each evaluated protocol."""
        return [
            (each.label, *verdict_of(answer, criterion))
            for criterion in criteria
            for each in self.evaluation.evaluated
            for answer in [next((a for a in criterion.answers if a.protocol == each.key), None)]
        ]

    def others(self, criterion: Criterion, passes: bool) -> list[str]:
        """Labels of the other protocols, of a league of all, that meet a criterion, or do not."""
        return [
            each.label
            for each in self.evaluation.protocols
            if (self.is_league or not each.evaluated)
            and any(a.protocol == each.key and a.passes is passes for a in criterion.answers)
        ]

    @cached_property
    def changes(self) -> Changes | None:
        """What changed since an earlier evaluation."""
        return self.earlier and changes_of(self.earlier[1], self.judgement)

    @property
    def charts(self) -> list[Chart]:
        """All charts of the page."""
        of_parts = (part for _, parts in self.parts.studies for part in parts.values())
        charts = (chart for part in of_parts for chart in part.charts)
        return [*self.leads, *self.parts.figures, *charts]


def standing_of(value: Ranked | None) -> str:
    """A value of a figure where there is little room."""
    is_last = value is not None and value["value"] is None and value["rank"]
    if is_last or not value or not is_known(value["value"]):
        return "never" if is_last else few_digits(None)
    low, high = found_of(value).ends
    return format_number(rounded(value["value"], high - low))


def rank_of(figure: Figure, value: Ranked | None) -> str:
    """The rank of a value, e.g. 2nd; "" if it has none."""
    return ordinal(value["rank"]) if value and value["rank"] and figure.column.better else ""


def verdict_of(answer: Answer | None, criterion: Criterion) -> tuple[Verdict, str, Sequence[str]]:
    """Verdict, words, and runs of one protocol's answer."""
    if not criterion.answers:
        return NOT_SHOWN, "", ()
    if answer is None or answer.passes is None:
        return NOT_KNOWN, answer.why if answer else "", ()
    verdict = MEETS if answer.passes else MEETS_NOT
    worst = text.value_text(answer.worst, criterion.unit) if is_known(answer.worst) else ""
    return verdict, worst, answer.runs


_SHOWN = (
    *(criterion_anchor, direction, figure_anchor, format_number, interval, rank_of, standing_of),
    *(value_text,),
)
"""Words and numbers of the page, by their names."""


def evaluation_page(report: EvaluationReport) -> str:
    """HTML of the report; it loads nothing. Equal inputs give equal bytes.

    Raises:
        BdpbenchError: when a file under ``reports/`` is missing or cannot be embedded.
    """
    contents = {each.chart_id: each.content for each in report.charts}
    evaluation, runs = report.evaluation, _runs(report.evaluation).values()
    labels = [each.label for each in evaluation.evaluated]
    are_many = len(labels) > MOST_NAMED
    content = {
        **{each.__name__: each for each in _SHOWN},
        "is_known": is_known,
        "moves": MOVES,
        "report": report,
        "evaluation": evaluation,
        "judgement": report.judgement,
        "version": __version__,
        "labels": labels,
        "names": evaluation.labels,
        "papers": [each for each in evaluation.studies if each.paper],
        "are_many": are_many,
        "new": several(len(labels), "congestion control") if are_many else " and ".join(labels),
        "html_name": f"evaluation-{evaluation.name}",
        "not_met": MEETS_NOT,
        "drawn": contents.keys(),
        "runs": [each for each in runs if each["evaluated"]],
        "other_runs": sum(not each["evaluated"] for each in runs),
        "chart_data": embed_json({"time": {}, "charts": contents}),
        **embedded(style="evaluation", vega=bool(contents)),
    }
    return page_environment().get_template("evaluation.html").render(content)


def _runs(evaluation: Evaluation) -> dict[str, dict[str, object]]:
    """Run id → the run, of all parts; those in which an evaluated protocol takes part stay so."""
    found: dict[str, dict[str, object]] = {}
    for study in evaluation.studies:
        for run in (run for part in study.parts.values() for run in part.runs):
            if run.evaluated or run.run_id not in found:
                found[run.run_id] = {**run.model_dump(), "study": study.key}
    return found
