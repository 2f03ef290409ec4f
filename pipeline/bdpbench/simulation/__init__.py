"""Running ns-2.35: where it runs, one recorded run of it, and its own validation suite."""
