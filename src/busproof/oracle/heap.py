"""A persistent priority queue with the smallest entry first; every version stays usable.

It is a leftist heap: push and pop build O(log n) new nodes and share the rest with older versions.
No maintained library offers an ordered persistent structure (docs/dependencies.md). Callers leave
outdated entries in place, and `settled` drops them from the front.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

Entry = TypeVar("Entry")
Heap = tuple[int, Entry, Any, Any] | None
"""A node is (rank, smallest entry, left, right); `None` is the empty heap."""


def _join(one: Any, two: Any) -> Any:
    if one is None:
        return two
    if two is None:
        return one
    if two[1] < one[1]:
        one, two = two, one
    left, right = one[2], _join(one[3], two)
    if left is None or left[0] < right[0]:
        left, right = right, left
    return (1 if right is None else right[0] + 1, one[1], left, right)


def push(heap: Heap[Entry], entry: Entry) -> Heap[Entry]:
    """Return the heap with one more entry; O(log n)."""
    joined: Heap[Entry] = _join(heap, (1, entry, None, None))
    return joined


def pop(heap: Heap[Entry]) -> Heap[Entry]:
    """Return the heap without its smallest entry; O(log n)."""
    if heap is None:
        raise AssertionError("pop from an empty heap")
    joined: Heap[Entry] = _join(heap[2], heap[3])
    return joined


def smallest(heap: Heap[Entry]) -> Entry | None:
    """Return the smallest entry, or `None` for an empty heap; O(1)."""
    return None if heap is None else heap[1]


def settled(heap: Heap[Entry], counts: Callable[[Entry], bool]) -> Heap[Entry]:
    """Return the heap without outdated entries at its front: pop until one `counts`."""
    while heap is not None and not counts(heap[1]):
        heap = pop(heap)
    return heap


def filtered(heap: Heap[Entry], counts: Callable[[Entry], bool]) -> Heap[Entry]:
    """Return the heap without any entries that do not count; O(n log n)."""
    kept: Heap[Entry] = None
    for entry in sorted(filter(counts, _entries(heap)), reverse=True):  # type: ignore[type-var]  # entries are ordered
        kept = push(kept, entry)
    return kept


def _entries(heap: Heap[Entry]) -> Iterator[Entry]:
    nodes = [heap]
    while nodes:
        if (node := nodes.pop()) is not None:
            yield node[1]
            nodes += node[2:]
