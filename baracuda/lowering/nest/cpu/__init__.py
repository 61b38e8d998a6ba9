"""What the nests of all kinds share on the CPU, and the choice among their schedules."""
