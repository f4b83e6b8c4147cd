"""A growing sequence that keeps its last items only."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

__all__ = ["Window"]

Item = TypeVar("Item")


class Window(Generic[Item]):
    """Items by their index in a sequence of which the first ones are forgotten.

    Args:
        items: the first items.

    Attributes:
        first: the index of the first item that is kept.
    """

    __slots__ = ("_items", "first")

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._items = list(items)
        self.first = 0

    def __len__(self) -> int:
        """Return how many items there ever were."""
        return self.first + len(self._items)

    def __getitem__(self, index: int) -> Item:
        """Return an item that is kept."""
        place = index - self.first
        if place < 0:
            raise IndexError(f"item {index} is forgotten")
        return self._items[place]

    @property
    def last(self) -> Item:
        """The last item."""
        return self._items[-1]

    @property
    def kept(self) -> Sequence[Item]:
        """The items that are kept."""
        return self._items

    def numbered(self) -> Iterator[tuple[int, Item]]:
        """Yield the items that are kept, each after its index."""
        return enumerate(self._items, self.first)

    def append(self, item: Item) -> None:
        """Add an item at the end."""
        self._items.append(item)

    def forget(self, index: int) -> None:
        """Forget all items before an index."""
        del self._items[: index - self.first]
        self.first = index
