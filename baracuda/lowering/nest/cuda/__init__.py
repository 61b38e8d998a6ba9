"""What the nests of all kinds share on a CUDA device, and the choice among their schedules."""
