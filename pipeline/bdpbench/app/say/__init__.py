"""Output for the terminal: lists, totals, and the progress of a run."""
