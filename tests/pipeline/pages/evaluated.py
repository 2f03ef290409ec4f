"""A small evaluation for tests: two figures, three criteria, and a part of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from bdpbench.app.evaluate.judging import Prints, judged
from bdpbench.contracts.evaluation import (
    Answer,
    Column,
    Criterion,
    CriterionFile,
    Evaluation,
    Figure,
    Judgement,
    cells_schema,
    found_of,
)
from bdpbench.contracts.judged import Better, places
from bdpbench.contracts.yaml_files import YamlFile

DOCUMENT = YamlFile(Path(__file__).with_suffix(".yaml")).data
CELL = {
    **dict.fromkeys(("own_key", "row", "beside", "panel"), ""),
    "study": "paper",
    "x": None,
    "source": "published",
    "unit": "s",
    "subject": "flow:0",
}
LABELS = {each["key"]: each["label"] for each in DOCUMENT["protocols"]}


def value(protocol: str, number: float | None, rank: int | None, of: int = 3, **more: Any) -> Any:
    return {
        "protocol": protocol,
        "unit": "s",
        "value": number,
        "low": number,
        "high": number,
        "rank": rank,
        "of": of,
        "unsure": False,
        "place": "",
        "run_ids": [] if number is None else [f"{protocol}-run"],
        "why": "" if number is not None else "its run failed",
        **more,
    }


def figure(key: str, *values: Any, better: Better = "less") -> Figure:
    """A figure, with the places that follow from the values and intervals of those with a rank."""
    column = {**DOCUMENT["studies"][0]["parts"]["table"]["columns"]["a"], "better": better}
    told = Column(
        **{**column, "metric": key if len(key) > 4 else f"metric_{key}", "title": f"Figure {key}"}
    )
    ranked = [each for each in values if each["rank"] is not None] if better else []
    found = places(list(map(found_of, ranked)), told.judged)
    for each, place in zip(ranked, found, strict=True):
        each["place"] = place.known
    return Figure(key, f"What {key} is.", told, list(values))


def criterion(key: str, section: str, passes: bool | None, *, simulated: bool = True) -> Criterion:
    told = {"question": f"Is it {key}?", "section": section, "text": f"About {key}."}
    if not simulated:
        return Criterion(key, CriterionFile.model_validate(told))
    told |= {"part": "table", "column": "a", "least": 0.5, "source": "a source"}  # type: ignore[dict-item]
    why = "its run failed" if passes is None else ""
    answers = [
        Answer("Mine", passes, None if passes is None else 0.25, ["Mine-run"], why),
        Answer("cubic", True, 0.5, ["Mine-run"], ""),
    ]
    file = CriterionFile.model_validate(told)
    return Criterion(key, file, "s", "at least 0.5 s", 0.5, None, answers)


def protocols(*keys: str) -> list[Any]:
    """Protocols of the document."""
    return [dict(each) for each in DOCUMENT["protocols"] if each["key"] in keys]


def evaluation(figures: Sequence[Figure] = (), **more: Any) -> Evaluation:
    """An evaluation with some figures, all of one column, and a part of each kind."""
    told = {"question": "How long?", "text": "What it is.", "part": "table", "column": "a"}
    study = {**DOCUMENT["studies"][0], "figures": {each.key: told for each in figures}}
    return Evaluation.model_validate({**DOCUMENT, "studies": [study], **more})


def judgement(
    figures: Sequence[Figure] = (),
    criteria: Sequence[Criterion] = (),
    found: pl.DataFrame | None = None,
    prints: Prints | None = None,
    **more: Any,
) -> Judgement:
    """The same with its cells, judged."""
    document = evaluation(figures, **more)
    own = (cells() if found is None else found).filter(pl.col("protocol").is_in(document.labels))
    known = judged(document, own, prints or {})
    return replace(known, figures=figures, criteria=criteria)


def cells(factor: float = 1.0) -> pl.DataFrame:
    """Cells of the parts; ``factor`` scales those of the evaluated protocol."""
    rows = []
    for index, name in enumerate(LABELS):
        first, times = 12.5 + index, 1.0 if index else factor
        numbers: list[tuple[str, str, float | None, dict[str, Any]]] = [
            ("table", "a", first * times, {}),
            ("table", "b", 80.0 if index else None, {}),
            *(("pairs", "a", -0.5 if each == name else 0.25, {"beside": each}) for each in LABELS),
            *(("curve", "a", (x + index) * times, {"x": x}) for x in (10.0, 20.0)),
        ]
        for part, column, number, more in numbers:
            known = number is not None
            told = {"part": part, "column": column, "metric": f"metric_{column}", "value": number}
            told |= {
                "low": number - 0.1 if known else None,
                "high": number + 0.1 if known else None,
            }
            told |= {"values": [number], "why": "" if known else "never reached in 1 of 1 runs"}
            who = {"protocol": name, "evaluated": not index, "run_ids": [f"{name}-run"]}
            rows.append({**CELL, **who, **told, **more})
    return pl.DataFrame(rows, schema=cells_schema())
