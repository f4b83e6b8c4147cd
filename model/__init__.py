"""The reference model: a bus with complete knowledge, which encodes every documented rule.

`step` executes one command in a namespace; a policy makes the choices that a bus is free to make.
Start reading with `state`, `step` and `life_cycle`; each other file has the rules of one family.
"""

from busproof.model.answers import Answer
from busproof.model.choices import Choices, HostileChoices, RandomChoices, RoundRobin, Scripted
from busproof.model.family import Family
from busproof.model.rules import FAMILIES, NO_FAULT, Families, Namespace
from busproof.model.step import forget, new_namespace, step, ways

__all__ = [
    "FAMILIES",
    "NO_FAULT",
    "Answer",
    "Choices",
    "Families",
    "Family",
    "HostileChoices",
    "Namespace",
    "RandomChoices",
    "RoundRobin",
    "Scripted",
    "forget",
    "new_namespace",
    "step",
    "ways",
]
