"""Studies as their folders describe them: scenarios, parameters, runs and the ids of runs."""
