"""Launches of a program that become one: a pass over what a recorder has seen of its first run."""

from baracuda.frontends.fusing.fusion import Fusion, fused

__all__ = ["Fusion", "fused"]
