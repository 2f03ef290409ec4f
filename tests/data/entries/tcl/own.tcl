# Never run: it is a script of its own.
