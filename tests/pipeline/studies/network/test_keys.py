"""Keys: the documentation names all."""

from __future__ import annotations

from bdpbench.contracts.paths import repository_root
from bdpbench.studies.parts import (
    Bottleneck,
    Cbr,
    Change,
    Exponential,
    Flow,
    OwnSource,
    Packmime,
    Web,
)
from bdpbench.studies.queues import QUEUE_KINDS


def test_the_documentation_tells_every_key() -> None:
    text = (repository_root() / "docs" / "scenarios.md").read_text()

    def told(name: str) -> bool:
        return f"`{name}`" in text or f"{name}:" in text

    for model in (Flow, Bottleneck, Change, Cbr, Exponential, Web, Packmime, OwnSource):
        assert [name for name in model.model_fields if not told(name)] == []
    for kind in QUEUE_KINDS.values():
        for name, parameter in kind.parameters.items():
            assert f"| `{name}` | {parameter.text} |" in text
