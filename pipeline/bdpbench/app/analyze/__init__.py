"""`bdpbench analyze`: measures any trace of ns-2, with output as text, table, JSON or page."""
