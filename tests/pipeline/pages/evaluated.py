"""A small evaluation for tests: two figures, three criteria, and a part of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from bdpbench.contracts.evaluation import Evaluation, cells_schema
from bdpbench.contracts.judged import Better, Found, Judged, places

LABELS = {"Mine": "Mine & <co>", "cubic": "CUBIC", "standard": "Standard TCP"}
INTERVAL = "from the least to the most of three runs"


def column(key: str, better: str = "less", unit: str = "s") -> Any:
    return {
        "title": f"Column {key}",
        "scenario": "alone",
        "metric": f"metric_{key}",
        "subject": "flow:0",
        "unit": unit,
        "definition": "As it is.",
        "better": better,
        "interval": INTERVAL,
    }


def value(protocol: str, number: float | None, rank: int | None, of: int = 3, **more: Any) -> Any:
    return {
        "protocol": protocol,
        "value": number,
        "low": number,
        "high": number,
        "rank": rank,
        "of": of,
        "unsure": [],
        "place": "",
        "runs": [] if number is None else [f"{protocol}-run"],
        "why": "" if number is not None else "its run failed",
        **more,
    }


def figure(key: str, *values: Any, better: Better = "less") -> Any:
    """A figure, with the places that follow from the values and intervals of those with a rank."""
    ranked = [each for each in values if each["rank"] is not None] if better else []
    found = [Found(each["value"], each["low"], each["high"]) for each in ranked]
    for each, place in zip(ranked, places(found, Judged(better, unit="s")), strict=True):
        each["place"] = place.known
    return {
        "key": key,
        "title": f"Figure {key}",
        "unit": "s",
        "better": better,
        "text": f"What {key} is.",
        "question": "How long?",
        "study": "paper",
        "part": "table",
        "column": "a",
        "values": list(values),
    }


def criterion(key: str, section: str, passes: bool | None, *, simulated: bool = True) -> Any:
    answer = {
        "protocol": "Mine",
        "passes": passes,
        "worst": None if passes is None else 0.25,
        "runs": ["Mine-run"],
        "why": "its run failed" if passes is None else "",
    }
    others = [{**answer, "protocol": "cubic", "passes": True, "why": "", "worst": 0.5}]
    return {
        "key": key,
        "question": f"Is it {key}?",
        "section": section,
        "text": f"About {key}.",
        "unit": "s" if simulated else "",
        "rule": "at least 0.5 s" if simulated else "",
        "bound": 0.5 if simulated else None,
        "reference": None,
        "source": "a source" if simulated else "",
        "study": "paper" if simulated else "",
        "part": "table" if simulated else None,
        "column": "a" if simulated else None,
        "least": 0.5 if simulated else None,
        "answers": [answer, *others] if simulated else [],
    }


def part(key: str, kind: str, columns: dict[str, Any], **more: Any) -> Any:
    run = {"scenario": "alone", "beside": "", "status": "published"}
    runs = [
        {**run, "run_id": f"{name}-run", "label": label, "protocol": name, "evaluated": not index}
        for index, (name, label) in enumerate(LABELS.items())
    ]
    return {
        "title": f"Part {key}",
        "text": "",
        "shows": ["Table 1"],
        "kind": kind,
        "columns": columns,
        "in_place_of": {"alone": "H-TCP"},
        "runs": runs,
        **more,
    }


def protocols(*keys: str) -> list[Any]:
    return [
        {
            "key": key,
            "label": LABELS[key],
            "colour": f"#{33 * index:02x}6699",
            "evaluated": index == 0,
            "source": key,
            "relative": "cubic" if index == 0 and "cubic" in keys else "",
        }
        for index, key in enumerate(keys)
    ]


def evaluation(figures: list[Any], criteria: Sequence[Any] = (), **more: Any) -> Evaluation:
    """An evaluation with some figures and criteria, and a part of each kind."""
    curve = {"x": "buffer_pkts", "x_unit": "packets", "x_title": "Buffer"}
    past = {**column("a"), "title": "the start", "metric": ""}
    document = {
        "name": "mine",
        "choice": "quick",
        "bdpbench": {"version": "0", "commit": ""},
        "ns2_build_id": "0123456789abcdef",
        "protocols": protocols(*LABELS),
        "figures": figures,
        "criteria": list(criteria),
        "studies": [
            {
                "key": "paper",
                "title": "A paper",
                "folder": "config/studies/paper",
                "paper": True,
                "parts": {
                    "table": part(
                        "table", "table", {"a": column("a"), "b": column("b", "more", "%")}
                    ),
                    "pairs": part("pairs", "matrix", {"a": column("a", "", "1")}),
                    "curve": part("curve", "curve", {"a": column("a")}, **curve),
                    "past": part("past", "history", {"a": past}),
                },
            }
        ],
        "problems": [{"protocol": "Mine", "study": "", "said": "it is <slow>"}],
        "cost": {"simulated": 3, "published": 2, "failed": 0, "missing": 1, "cpu_s": 4.5},
        **more,
    }
    return Evaluation.model_validate(document)


def cells(factor: float = 1.0) -> pl.DataFrame:
    """Cells of the parts; ``factor`` scales those of the evaluated protocol."""
    rows = []
    for index, name in enumerate(LABELS):
        times = 1.0 if index else factor

        def add(part_key: str, key: str, number: float | None, **more: Any) -> None:
            rows.append(
                {
                    "study": "paper",
                    "part": part_key,
                    "column": key,
                    "protocol": name,  # noqa: B023  called at once
                    "evaluated": not index,  # noqa: B023
                    "own_key": "",
                    "row": "",
                    "beside": "",
                    "panel": "",
                    "x": None,
                    "metric": f"metric_{key}",
                    "subject": "flow:0",
                    "unit": "s",
                    "value": number,
                    "low": None if number is None else number - 0.1,
                    "high": None if number is None else number + 0.1,
                    "values": [number],
                    "run_ids": [f"{name}-run"],  # noqa: B023
                    "source": "published",
                    "why": "" if number is not None else "never reached in 1 of 1 runs",
                    **more,
                }
            )

        add("table", "a", (12.5 + index) * times)
        add("table", "b", 80.0 if index else None)
        for other in LABELS:
            add("pairs", "a", -0.5 if other == name else 0.25, beside=other)
        for buffer in (10.0, 20.0):
            add("curve", "a", (buffer + index) * times, x=buffer)
    return pl.DataFrame(rows, schema=cells_schema())
