"""Judging of histories that begin in the middle, when their entities existed already."""
