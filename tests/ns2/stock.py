"""What the variant stock writes: the real one if it is built, else the SHA-256 that is stored.

Called as CONTRIBUTING.md says, this program runs every comparison with a real stock, that of
$BDPBENCH_NS_STOCK or one that it builds, and stores in `stock.sha256` what that gave, below the
ids of both builds: as long as these are the current ones, a real stock could give nothing else.
Where a stock is built, each comparison also tells if what is stored of it is not what it gives.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bdpbench.contracts.paths import tcl_dir
from bdpbench.simulation.backend import NativeBackend
from bdpbench.simulation.build import current_build_id
from bdpbench.studies.identity import Versions, tcl_files

ROOT = Path(__file__).resolve().parents[2]
STORED = Path(__file__).with_name("stock.sha256")
STORE_IN = "BDPBENCH_STORE_STOCK"
"""Environment variable: the folder in which comparisons with a real stock leave what it gave."""

BUILD = "./bdpbench ns2 build --variant stock"
STORE = "PYTHONPATH=$PWD/pipeline:$PWD .bdpbench/venv/bin/python tests/ns2/stock.py"


@dataclass(frozen=True)
class Stock:
    """Stock, as one test sees it.

    Attributes:
        binary: the real one, if there is one.
        test: name of the test, under which its outcomes are stored.
        folder: folder of the test, whose path does not count in what ns-2 says.
    """

    binary: Path | None
    test: str
    folder: Path

    def gives(self, outcome: object, again: Callable[[Path], object], *inputs: str) -> None:
        """Fail unless stock gives the same outcome.

        Args:
            outcome: what fast gave, as JSON has it.
            again: gives the outcome of another ns-2.
            inputs: all that determines it: texts of scripts or their paths, and arguments.
        """
        key = _sha256([self.test, *map(self._content, inputs)])[:16]
        if self.binary is not None:
            real = again(self.binary)
            assert outcome == real
            if folder := os.environ.get(STORE_IN):
                line = f"{self._digest(real)}  {key}  {self.test}\n"
                (Path(folder) / key).write_text(line, encoding="utf-8")
                return
            assert self._digest(real) == _stored().get(key), f"store what stock gives now: {STORE}"
            return
        stored = _stored().get(key)
        assert stored is not None, f"nothing is stored for these inputs: {BUILD}, then {STORE}"
        assert self._digest(outcome) == stored, (
            "this is not what stock gave when its outcome was stored. Either fast differs, or "
            "stock or what a script loads has changed. A real stock shows the difference: "
            f"{BUILD}, then this test again"
        )

    def _content(self, word: str) -> str:
        if word.endswith(".tcl") and "\n" not in word:
            path = Path(word)
            return Versions().digest(tcl_files(path) if path.is_relative_to(tcl_dir()) else [path])
        return self._without_paths(word)

    def _digest(self, outcome: object) -> str:
        return _sha256(self._without_paths(json.dumps(outcome, sort_keys=True)))

    def _without_paths(self, text: str) -> str:
        for path in (str(self.folder), str(ROOT)):
            text = text.replace(path, "").replace(json.dumps(path)[1:-1], "")
        return text


@cache
def _stored() -> dict[str, str]:
    _, *lines = STORED.read_text(encoding="utf-8").splitlines()
    return {key: digest for digest, key, _ in (line.split("  ", 2) for line in lines)}


def _sha256(content: str | Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _compared() -> str:
    """The line that names the compared builds; .ci/run builds stock if it is another."""
    return f"stock {current_build_id('stock')}, fast {current_build_id('fast')}\n"


def main() -> int:
    """Store anew what stock gives in every comparison; returns pytest's exit status."""
    if "BDPBENCH_NS_STOCK" not in os.environ:
        NativeBackend(current_build_id("stock"), "stock").build()
    with tempfile.TemporaryDirectory() as folder:
        found = {"BDPBENCH_REQUIRE_STOCK": "1", "POLARS_MAX_THREADS": "1", STORE_IN: folder}
        command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "loadfile"]
        done = subprocess.run(
            [*command, str(STORED.parent)],
            cwd=ROOT,
            env=os.environ | found,
            check=False,
        )
        if done.returncode == 0:
            lines = [path.read_text(encoding="utf-8") for path in Path(folder).iterdir()]
            by_test = sorted(lines, key=lambda line: line.split("  ")[::-1])
            STORED.write_text("".join([_compared(), *by_test]), encoding="utf-8")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main() if len(sys.argv) == 1 else f"no arguments are expected: {STORE}")
