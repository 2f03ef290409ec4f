"""The thesis's own ns-2 scripts, recovered from a reader's copy of it.

The thesis prints them as its Appendices A to H. In a copy, text or PDF, they are damaged by
scanning. Rules repair the damage and report what, where and why; damage that no rule can repair is
an error. The scripts belong to their author and are not part of bdpbench.
"""
