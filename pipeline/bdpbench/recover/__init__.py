"""The original ns-2 scripts of a study, recovered from a reader's own copy of it.

Some studies print their scripts. A copy of such a study, text or PDF, has the damage of scanning in
them; rules repair it and say what, where and why, and what no rule repairs is refused. Which
scripts a study prints stands in its ``originals.yaml``; the scripts themselves are their author's
and no part of bdpbench.
"""

from __future__ import annotations

from bdpbench.recover.document import Document, read_document
from bdpbench.recover.listing import Vocabulary
from bdpbench.recover.originals import ORIGINALS_NAME, Originals, load_originals
from bdpbench.recover.printed import Line, PrintedScript, find_scripts
from bdpbench.recover.repair import Recovered, repair_script
from bdpbench.recover.rules import RULES
from bdpbench.recover.tcl_check import Problem, check_scripts
from bdpbench.recover.tcl_text import procedures
from bdpbench.recover.write import check_replaceable, record_of, write_recovery

__all__ = [
    "ORIGINALS_NAME",
    "RULES",
    "Document",
    "Line",
    "Originals",
    "PrintedScript",
    "Problem",
    "Recovered",
    "Vocabulary",
    "check_replaceable",
    "check_scripts",
    "find_scripts",
    "load_originals",
    "procedures",
    "read_document",
    "record_of",
    "repair_script",
    "write_recovery",
]
