"""What users read in the terminal: lists, totals, and the progress of a run."""
