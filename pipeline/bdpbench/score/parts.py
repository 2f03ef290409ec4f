"""A printed number that several runs have to show: it counts once, with the runs as its parts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from bdpbench.contracts.scorecard import Kind, NumberVerdict, ScoredNumber, ScoredPart

# A number has the verdict of its worst run; a missing run leaves it undecided.
_WORST_FIRST: tuple[NumberVerdict, ...] = ("not_reproduced", "close", "not_run", "reproduced")


def together(parts: Sequence[tuple[str, ScoredNumber]]) -> list[ScoredNumber]:
    """Combine scored rows into printed numbers, in the order of their first rows.

    Args:
        parts: pairs of the id of a row's printed number ("" for a row that stands alone) and the
            row.
    """
    groups: dict[str, list[ScoredNumber]] = {}
    for part_of, row in parts:
        groups.setdefault(part_of or row["id"], []).append(row)
    return [
        rows[0] if rows[0]["id"] == key else _printed_number(key, rows)
        for key, rows in groups.items()
    ]


def _printed_number(key: str, rows: Sequence[ScoredNumber]) -> ScoredNumber:
    worst = min(rows, key=_rank)
    kind: Kind = "fitted" if any(row.get("kind") == "fitted" for row in rows) else "blind"
    common = {
        name: value
        for name, value in rows[0]["select"].items()
        if all(row["select"].get(name) == value for row in rows)
    }
    return {
        **worst,
        "id": key,
        "select": common,
        "verdict": worst["verdict"],
        "reason": _reason(rows),
        "known_miss": _joined(row["known_miss"] for row in rows if row["known_miss"]),
        "note": _joined(row["note"] for row in rows if row["note"]),
        "run_ids": list(dict.fromkeys(each for row in rows for each in row["run_ids"])),
        "kind": kind,
        "parts": [_part(row) for row in rows],
    }


def _rank(row: ScoredNumber) -> tuple[int, float]:
    """Sort key, smallest for the row that decides: by verdict, then by distance."""
    distance = row.get("distance")
    return _WORST_FIRST.index(row["verdict"]), -(math.inf if distance is None else distance)


def _reason(rows: Sequence[ScoredNumber]) -> str:
    """How many of the runs show the number, and the reasons of those that do not."""
    shown = sum(row["verdict"] == "reproduced" for row in rows)
    said = _joined(row["reason"] for row in rows if row["verdict"] != "reproduced")
    return f"{shown} of {len(rows)} runs show it" + (f": {said}" if said else "")


def _joined(texts: Iterable[str]) -> str:
    """Texts joined in order, each once."""
    return " ".join(dict.fromkeys(texts))


def _part(row: ScoredNumber) -> ScoredPart:
    return {
        "id": row["id"],
        "scenario": row["scenario"],
        "select": row["select"],
        "subject": row["subject"],
        "definition": row["definition"],
        "measured": row["measured"],
        "deviation": row["deviation"],
        "deviation_pct": row["deviation_pct"],
        "distance": row.get("distance"),
        "verdict": row["verdict"],
        "reason": row["reason"],
        "known_miss": row["known_miss"],
        "note": row["note"],
        "run_ids": row["run_ids"],
    }
