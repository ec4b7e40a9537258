"""The program: its IR, the front ends that read it, and the walk that unrolls it lazily."""
