"""How classes become mutants, and how the decorators of their methods combine them with a rule."""

import re
import sys
from pathlib import Path

import attrs
import pytest
from model_driver import Bus

from busproof import mutants
from busproof import vocabulary as v
from busproof.model import Families
from busproof.model.answers import Answer
from busproof.model.keys import Keys
from busproof.model.management import Management
from busproof.model.topics import Topics
from busproof.mutants import MUTANTS
from busproof.mutants.mutant import Mutant, mutant, mutants_of, run
from busproof.mutants.runs import create, receive
from busproof.mutants.wrappers import afterwards, alters, asks, tells, where, with_other

LIST = v.ListQueues()


def latest() -> Mutant:
    """Return the mutant that this module has collected last."""
    return mutants_of(sys.modules[__name__])[-1]


def faulty(families: Families) -> Bus:
    return Bus(**families)


def test_class_names_the_mutant_and_its_docstring_the_fault() -> None:
    @mutant("KEY-07", (create(), receive()))
    class KeysAreIgnored(Keys):
        """No message has a key."""

        def effective_key(self, *_: object) -> None:
            return None

    assert ("keys-are-ignored", "No message has a key.") == (latest().id, latest().summary)
    assert {"keys": KeysAreIgnored} == latest().families
    assert (create(), receive()) == latest().run


def test_run_of_its_own_decorator_is_the_run_of_the_mutant() -> None:
    @mutant("TOPIC-21")
    @run(create(), receive())
    class NamesAreEmpty(Topics):
        """A name is empty."""

    assert (create(), receive()) == latest().run


class Longer(Topics):
    @alters
    def folded(self, usual: str) -> str:
        return f"{usual}x"


def test_method_gets_the_usual_answer_by_name() -> None:
    assert "namex" == Longer(None, None).folded("Name")


def test_other_argument_is_put_in_the_place_of_its_name() -> None:
    class Reversed(Topics):
        @with_other("name")
        def folded(self, name: str) -> str:
            return name[::-1]

    assert "eman" == Reversed(None, None).folded("Name")


def test_faults_in_one_family_are_combined() -> None:
    class Twice(Topics):
        @alters
        def folded(self, usual: str) -> str:
            return usual * 2

    @mutant("TOPIC-21", also=(Longer,))
    class Both(Twice):
        """Names are longer, and then doubled."""

    assert "namexnamex" == latest().families["topics"](None, None).folded("Name")


def test_class_of_no_family_only_names_the_fault() -> None:
    @mutant("TOPIC-21", also=(Longer,))
    class Elsewhere:
        """A name has another letter."""

    assert {"topics": Longer} == latest().families


def test_fault_holds_for_entities_of_its_kind_only() -> None:
    class EntitiesAreEmpty(Management):
        def count(self, *_: object) -> int:
            return 7

    class QueuesAreEmpty(EntitiesAreEmpty):
        count = where(lambda entity: entity.path == "q")

    bus = faulty({"management": QueuesAreEmpty})
    counts = []
    for queue in ("q", "r"):
        bus.create(queue)
        counts.append(bus.done(v.GetQueue(queue=queue)).description.message_count)
    assert [7, 0] == counts


def test_command_is_changed_before_and_state_after_the_rule() -> None:
    class Renamed(Management):
        @asks
        def create_queue(self, command: v.CreateQueue) -> v.CreateQueue:
            return attrs.evolve(command, queue="other")

        @afterwards
        def add(self) -> None:
            self.namespace.now += 5

    bus = faulty({"management": Renamed})
    bus.create("q")
    assert (("other",), 5) == (bus.done(LIST).names, bus.namespace.now)


def test_one_field_of_an_outcome_is_changed_if_the_outcome_has_it() -> None:
    class FirstOnly(Management):
        @tells("names")
        def list_queues(self, usual: tuple[str, ...]) -> tuple[str, ...]:
            return usual[:1]

        @tells("names")
        def create_queue(self) -> tuple[str, ...]:
            raise AssertionError("its outcome has no names")

    bus = faulty({"management": FirstOnly})
    bus.create("a")
    bus.create("b")
    assert Answer(v.Listed(names=("a",)), rules=("MGMT-16",)) == bus.ask(LIST)


def test_argument_that_the_rule_lacks_is_refused_with_those_that_it_has() -> None:
    with pytest.raises((TypeError, RuntimeError)) as raised:

        class QueueIsItsKey(Keys):
            @alters
            def effective_key(self, queue: str) -> None:
                """A queue is its own key."""

    cause = raised.value.__cause__ or raised.value
    message = r"QueueIsItsKey.effective_key wants \['queue'\]; the rule has \['entity', 'message'\]"
    assert re.search(message, str(cause))


def test_every_module_with_mutants_is_in_the_list_of_all():
    folder = Path(mutants.__file__).parent
    texts = {path.stem: path.read_text("utf-8") for path in folder.rglob("*.py")}
    collecting = {
        name for name, text in texts.items() if re.search(r"^@(mutant|changes_view)\(", text, re.M)
    }
    assert collecting == {each.family for each in MUTANTS}
