"""`bdpbench analyze`: any trace of ns-2, measured and told as text, a table, JSON or a page."""
