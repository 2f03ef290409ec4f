"""The documents that the rooms exchange, and their places."""
