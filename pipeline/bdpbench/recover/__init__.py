"""The original ns-2 scripts of sharma2006, recovered from a reader's own copy of the thesis.

The thesis prints its eight scripts as Appendices A to H. A copy of it, text or PDF, has the damage
of scanning in them; rules repair it and say what, where and why, and what no rule repairs is
refused. The scripts themselves are the author's and no part of bdpbench.
"""

from __future__ import annotations

from bdpbench.recover.appendices import SCRIPTS, Appendix, find_appendices
from bdpbench.recover.listing import Vocabulary
from bdpbench.recover.repair import Recovered, repair_appendix
from bdpbench.recover.rules import RULES
from bdpbench.recover.tcl_check import Problem, check_scripts
from bdpbench.recover.tcl_text import procedures
from bdpbench.recover.thesis import Thesis, read_thesis
from bdpbench.recover.write import check_replaceable, record_of, write_recovery

__all__ = [
    "RULES",
    "SCRIPTS",
    "Appendix",
    "Problem",
    "Recovered",
    "Thesis",
    "Vocabulary",
    "check_replaceable",
    "check_scripts",
    "find_appendices",
    "procedures",
    "read_thesis",
    "record_of",
    "repair_appendix",
    "write_recovery",
]
