"""The original ns-2 scripts of a study, recovered from a reader's own copy of it.

Some studies print their scripts. In a copy of such a study, text or PDF, they are damaged by
scanning. Rules repair the damage and report what, where and why; damage that no rule can repair is
an error. A study's ``originals.yaml`` lists its scripts; the scripts themselves belong to their
author and are not part of bdpbench.
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
