"""What the commands do: complete tasks that combine the other rooms."""
