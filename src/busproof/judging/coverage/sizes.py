"""SIZE: what is full, and what has room again."""

from busproof import vocabulary as v
from busproof.judging.coverage.keys import key_at
from busproof.judging.coverage.notes import Coverage
from busproof.judging.homes import key_of_home
from busproof.model.life_cycle import ACTIVE
from busproof.model.state import Entity

__all__ = ["of_delivery", "of_full", "of_sent"]


def of_sent(coverage: Coverage, entity: Entity, message: v.Message) -> None:
    """SIZE-08, SIZE-09, SIZE-12: show that there is room after a refusal, or beside a full one."""
    notes = coverage.at(entity)
    if not notes.full:
        return
    key = key_at(entity, message)
    where = coverage.partition
    any_place = key is None and entity.settings.partitioned
    partitions = {home for home in notes.full.values() if home is not None}
    beside = not any_place and where is not None and partitions and where not in partitions
    coverage.show_if(
        (key in notes.full and notes.removed, "SIZE-12"),
        (any_place, "SIZE-09"),
        (beside, "SIZE-08"),
    )
    if key in notes.full:
        coverage.journal.drop(notes.full, key)


def of_full(coverage: Coverage, entity: Entity, command: v.Send | v.Schedule) -> None:
    """SIZE-10, SIZE-11, SIZE-13, SIZE-14: show the rules on a refusal for want of room."""
    notes = coverage.at(entity)
    message = command.message
    partitioned = entity.settings.partitioned
    key = key_at(entity, message)
    used = sum(partition.bytes for partition in entity.partitions)
    available = sum(
        one.message.size or 0 for one in entity.messages.values() if one.state is ACTIVE
    )
    whole = used + (message.size or 1) > entity.capacity * len(entity.partitions)
    homes = entity.base.homes
    namespace = entity.namespace
    home = None
    if key is not None and coverage.strict:
        home = homes.get(key_of_home(namespace, key).value)
    coverage.show_if(
        (command.transaction is not None, "SIZE-14"),
        (partitioned, "SIZE-09" if key is None else "SIZE-07"),
        (not partitioned or (key is None and whole), "SIZE-10"),
        (available < used and available == 0, "SIZE-13"),
        (True, "SIZE-11"),
    )
    coverage.journal.put(notes.full, key, home if partitioned else 0)
    coverage.change(notes)
    notes.removed = False


def of_delivery(coverage: Coverage, entity: Entity) -> None:
    """SIZE-11: show that what is full can be received."""
    coverage.show_if((coverage.at(entity).full, "SIZE-11"))
