"""What `bdpbench atlas` does."""
