"""Studies, scenarios, runs and plans: what is to be simulated, checked before anything runs."""
