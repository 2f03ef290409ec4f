"""ns-2.35: its build, where it runs, and one run of it with everything recorded."""
