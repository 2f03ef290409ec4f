"""The original ns-2 scripts of a study, recovered from a reader's own copy of it.

Some studies print their scripts. In a copy of such a study, text or PDF, they are damaged by
scanning. Rules repair the damage and report what, where and why; damage that no rule can repair is
an error. A study's ``originals.yaml`` lists its scripts; the scripts themselves belong to their
author and are not part of bdpbench.
"""
