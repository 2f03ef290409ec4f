"""The gallery of the documentation: what an evaluation says about each of its protocols."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bdpbench.contracts.evaluation import (
    Criterion,
    EvaluatedProtocol,
    EvaluatedStudy,
    Evaluation,
)
from bdpbench.contracts.judged import direction, judged_of
from bdpbench.pages.evaluation.findings import (
    Finding,
    findings_of,
    is_known,
    ordinal,
    section_of,
    value_of,
)
from bdpbench.pages.tables import markdown_text
from bdpbench.pages.text import format_number, joined
from bdpbench.units import axis_title, slug

_INTRODUCTION = """\
How the protocols that come along, and those of the reproduced studies, fare in the runs of
[`./bdpbench evaluate`](../evaluate.md): its judged figures, and the criteria of RFC 9743. The
report of a protocol of your own has the same figures with one row more, and after them the tables
and figures of each study."""

_MARKS = {True: "✓", False: "✗", None: "–"}


def reduced(evaluation: Evaluation) -> Evaluation:
    """An evaluation with its figures and answers alone, as the gallery shows them.

    Of its parts, only the columns of criteria are kept, without runs: they have the units.
    """
    judged = {(each["study"], each["part"]) for each in evaluation["criteria"]}
    studies: list[EvaluatedStudy] = [
        {
            **study,
            "parts": [
                {**part, "runs": []}
                for part in study["parts"]
                if (study["key"], part["key"]) in judged
            ],
        }
        for study in evaluation["studies"]
        if any(study["key"] == key for key, _ in judged)
    ]
    return {**evaluation, "studies": studies, "problems": []}


def gallery_page(generated: str, evaluation: Evaluation) -> str:
    """The gallery as Markdown.

    Args:
        generated: its first line.
        evaluation: an evaluation, which may be ``reduced``.
    """
    shown = [each for each in evaluation["protocols"] if _is_measured(each, evaluation)]
    lines = [
        generated,
        "",
        "# Gallery",
        "",
        _INTRODUCTION,
    ]
    if evaluation.get("description"):
        lines += ["", markdown_text(evaluation["description"])]
    lines += ["", "## The figures", "", *_standings(shown, evaluation)]
    lines += ["", "Each cell has the value and its rank; *never* means not in the simulated time."]
    lines += ["", "## RFC 9743", "", *_criteria(shown, evaluation)]
    lines += [
        "",
        "✓ it meets our rule for the criterion, ✗ it does not, – it was not judged. The report of "
        "an evaluation has each rule with its source.",
    ]
    for each in shown:
        lines += ["", f"## {markdown_text(each['label'])}", "", *_about(each, evaluation)]
    return "\n".join(lines) + "\n"


def _is_measured(protocol: EvaluatedProtocol, evaluation: Evaluation) -> bool:
    values = (value_of(figure, protocol["key"]) for figure in evaluation["figures"])
    return any(each is not None and each["rank"] is not None for each in values)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return [f"| {' | '.join(each)} |" for each in lines]


def _standings(protocols: Sequence[EvaluatedProtocol], evaluation: Evaluation) -> list[str]:
    heads = [
        "",
        *(f"[{markdown_text(each['label'])}](#{slug(each['label'])})" for each in protocols),
    ]
    rows = []
    for figure in evaluation["figures"]:
        better = direction(judged_of(figure, figure["unit"]))
        row = [markdown_text(joined(axis_title(figure["title"], figure["unit"]), better))]
        for protocol in protocols:
            value = value_of(figure, protocol["key"])
            if value is None or value["rank"] is None:
                row.append("–")
            else:
                number = format_number(value["value"]) if is_known(value["value"]) else "never"
                row.append(f"{number} ({ordinal(value['rank'])})")
        rows.append(row)
    return _table(heads, rows)


def _criteria(protocols: Sequence[EvaluatedProtocol], evaluation: Evaluation) -> list[str]:
    heads = ["criterion", *(markdown_text(each["label"]) for each in protocols)]
    rows = [
        [
            f"{markdown_text(each['title'])} ({section_of(each)})",
            *(_MARKS[_passes(each, protocol["key"])] for protocol in protocols),
        ]
        for each in evaluation["criteria"]
        if each["answers"]
    ]
    return _table(heads, rows)


def _passes(criterion: Criterion, protocol: str) -> bool | None:
    answers = criterion["answers"]
    return next((each["passes"] for each in answers if each["protocol"] == protocol), None)


def _about(protocol: EvaluatedProtocol, evaluation: Evaluation) -> Iterator[str]:
    found = findings_of(evaluation, protocol["key"])
    yield markdown_text(found.summary)
    for title, sentences in (
        ("Best", found.best),
        ("Worst", found.worst),
        ("What would keep it from deployment", found.keeps),
        ("What limits where it can be used", found.limits),
    ):
        if sentences:
            yield from _listed(title, sentences)


def _listed(title: str, sentences: Sequence[Finding]) -> Iterator[str]:
    yield ""
    yield f"**{title}**"
    yield ""
    yield from (f"- {markdown_text(each.text)}" for each in sentences)
