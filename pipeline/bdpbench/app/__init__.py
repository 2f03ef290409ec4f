"""What the commands do: the rooms below joined into whole tasks."""
