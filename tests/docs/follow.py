"""Follows pages of the documentation word for word: each command of their blocks has to succeed.

    PYTHONPATH=$PWD/pipeline:$PWD .bdpbench/venv/bin/python tests/docs/follow.py tutorial results

clones the checkout for each page into an empty folder, which gets the environment and ns-2 of this
one, and runs the page's commands there, with a short study in place of a long one where ELSE says
so. Without a page it lists all of them, and on standard error those that others follow. The README
is followed by tests/bare/prove.sh, on bare machines.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"^```(sh|bash|console|yaml)\n(.*?)^```", re.MULTILINE | re.DOTALL)
MOST_S = 1200
# Pages that are followed by other programs, or that need what a machine does not have.
NOT_HERE = {
    "clusters": "tests/cluster/prove.sh follows it, with Slurm",
    "docker": "tests/docker/prove.sh follows it, with Docker",
    "elsewhere": "it needs iperf3, tcpdump and a network",
    "ns3": "it installs ns-3, as root; tests/app/test_engine.py runs what it says",
    "originals": "it needs the thesis as a PDF",
    "python": "tests/pip/prove.sh installs, and tests/app/test_interface.py runs its cells",
}
# What a command would take hours or a second variant of ns-2 for: what is run instead, or nothing.
ELSE = {
    "./bdpbench ns2 build --variant stock": "",
    "./bdpbench evaluate league -n": "",  # it fetches the kernel's sources
    "./bdpbench evaluate league --quick": "",
    "./bdpbench evaluate league": "",
    "./bdpbench run config/tcpeval": "./bdpbench run config/tcpeval -n",
    "./bdpbench evaluate myprotocol --study tcpeval": "./bdpbench evaluate myprotocol -n",
    "./bdpbench new protocol mine --linux cubic": "./bdpbench new protocol other --linux cubic",
    "./bdpbench check mystudy": "",  # the study that `new` writes has no numbers
    "./bdpbench run ahmad2013 --tier paper --scenario long_same": "",
    "./bdpbench run ahmad2013 --tier paper": "",
    "rsync -a --ignore-existing --exclude='.*' results-of-another/runs/ results/runs/": "",
}
# What a page presupposes: the files of its reader.
BEFORE = {
    "league": "./bdpbench new protocol given --linux scalable; cp given/tcp_scalable.c tcp_mine.c",
    "publications": "./bdpbench new study mystudy",
    "protocols": "./bdpbench new protocol given --linux scalable;"
    " cp given/tcp_scalable.c tcp_mine.c",
    "results": "./bdpbench run; for each in before after; do"
    " ./bdpbench archive sharma2006 -o $each.zip; done",
    "tcpeval": "./bdpbench new protocol myprotocol",
    "traces": "$(./bdpbench ns2 path) tests/pipeline/metrics/packets/monitors.tcl;"
    " for each in out before after; do cp all.tr $each.tr; done;"
    " head -n 1000 all.tr >one.tr; tail -n +1001 all.tr >two.tr",
}


def commands(page: Path) -> Iterator[str]:
    """The commands of a page, in its order; of a console, those behind its prompt.

    A whole study is saved as mystudy/study.yaml, as the pages that have one say.
    """
    for language, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "yaml":
            if re.match(r"schema_version:.*\nkey: mystudy\n", block):
                yield f"mkdir -p mystudy; cat >mystudy/study.yaml <<'END'\n{block}END"
            continue
        text = block.replace("\\\n", " ")
        prompted = re.findall(r"^\$ (.*)$", text, re.MULTILINE)
        for line in prompted or text.splitlines():
            if command := re.sub(r"(^|\s)#.*", "", line).strip():
                yield ELSE.get(command, command)


def main() -> int:
    """Follow the pages; returns how many commands failed."""
    pages = {path.stem: path for path in sorted((ROOT / "docs").glob("*.md"))}
    if not sys.argv[1:]:
        for name, path in pages.items():
            if name in NOT_HERE:
                print(f"{name}: {NOT_HERE[name]}", file=sys.stderr)
            elif told := [each.partition("\n")[0] for each in commands(path) if each]:
                print(f"{name}: {'; '.join(told)}")
        return 0
    failed = 0
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for name in sys.argv[1:]:
        if name in NOT_HERE or name not in pages:
            raise SystemExit(f"{name}: {NOT_HERE.get(name, 'there is no such page')}")
        with tempfile.TemporaryDirectory() as work:
            clone = Path(work, "bdpbench")
            subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
            (clone / ".bdpbench").symlink_to(ROOT / ".bdpbench")
            before = filter(None, [BEFORE.get(name)])
            for command in [*before, *filter(None, commands(pages[name]))]:
                call = ["bash", "-euo", "pipefail", "-c", command]
                done = subprocess.run(call, cwd=clone, env=own, check=False, timeout=MOST_S)
                said = command.partition("\n")[0]
                print(f"{name}: {said}: exit status {done.returncode}", flush=True)
                failed += done.returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
