"""Reference of the metrics, generated from the registry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bdpbench.app.document.tables import GENERATED
from bdpbench.contracts.runs import Definition
from bdpbench.metrics import DEFINITIONS
from bdpbench.metrics.packets import PACKET_DEFINITIONS

_SECTIONS = (
    ("run", "flow", "Of a flow"),
    ("run", "link", "Of a link"),
    ("run", "run", "Of a run"),
    ("group", "", "Of several runs"),
)


def metrics_page() -> str:
    """Markdown of every metric: those for studies, then those that `analyze` measures."""
    found = [each.as_document() for each in DEFINITIONS.values()]
    lines = [
        GENERATED,
        "",
        "# Metrics",
        "",
        "`summary:` of a scenario, `published.csv` and `claims.yaml` name metrics by the words in",
        "code. A metric of a flow has subjects such as `flow:0`, one of a link such as",
        "`link:bottleneck`; those of a run and of several runs have the subject `run`. A study can",
        "add its own in `metrics.py`.",
    ]
    for level, subject, title in _SECTIONS:
        own = [
            each for each in found if each["level"] == level and subject in ("", each["subject"])
        ]
        lines += ["", f"## {title}", "", *_entries(own)]
    lines += ["", "## Of packet traces", ""]
    lines += ["What `./bdpbench analyze` and `trace: packets` measure.", ""]
    lines += [*_entries([each.as_document() for each in PACKET_DEFINITIONS.values()])]
    return "\n".join(lines).rstrip() + "\n"


def _entries(definitions: Sequence[Definition]) -> Iterator[str]:
    for each in sorted(definitions, key=lambda each: each["metric"]):
        unit = "" if each["unit"] in ("", "1") else f", {each['unit']}"
        title = f"{each['title']}. " if each["title"] else ""
        source = f" *Source: {each['source']}.*" if each["source"] else ""
        yield f"**`{each['metric']}`**{unit}: {title}{each['text']}{source}"
        yield ""
