"""`bdpbench evaluate`: protocols in the places of those of the studies, and how they compare."""
