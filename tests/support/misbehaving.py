"""Adapters around the reference model that each get one thing wrong, for `check-adapter`."""

import attrs

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.errors import AdapterError


class Fake(ModelAdapter):
    """The model, with every answer passed through `wrong`."""

    def do(self, command, connection):
        return self.wrong(command, super().do(command, connection))

    def wrong(self, command, came):
        return came

    def changed(self, came, **fields):
        """The answer, with fields of its message changed."""
        message = attrs.evolve(came.outcome.message, **fields)
        return v.Observed(v.Received(message=message), came.witness)


class DeclaresText(Fake):
    declaration = "a bus"


class DeclaresRaising(Fake):
    @property
    def declaration(self):
        raise RuntimeError("no bus here")


class DeclaresUnknown(Fake):
    declaration = v.Declaration(
        implementation=v.Implementation(name="a bus"), capabilities=frozenset({"teleport"})
    )


class DeclaresAnew(Fake):
    """Says in its version how often it was started."""

    starts = 0

    @property
    def declaration(self):
        was = super().declaration
        named = attrs.evolve(was.implementation, version=str(self.starts))
        return attrs.evolve(was, implementation=named)

    def start(self, profile):
        self.starts += 1
        super().start(profile)


class RefusesNames(Fake):
    def wrong(self, command, came):
        odd = isinstance(command, v.CreateQueue) and " " in command.queue
        return v.Observed(v.Refused(error=v.Error.OTHER)) if odd else came


class Forgets(Fake):
    """Takes messages and never has any."""

    def wrong(self, command, came):
        return v.Observed(v.Empty()) if isinstance(command, v.Receive) else came


class LosesProperties(Fake):
    def wrong(self, command, came):
        return self.changed(came, message_id=None) if _gives(came) else came


class SetsSessions(Fake):
    def wrong(self, command, came):
        return self.changed(came, session_id="default") if _gives(came) else came


class ForgetsLabels(Fake):
    def wrong(self, command, came):
        return self.changed(came, subject=None) if _gives(came) else came


class WritesFractions(Fake):
    def wrong(self, command, came):
        if not _gives(came):
            return came
        own = came.outcome.message.properties
        whole = {name: float(value) for name, value in own.items() if type(value) is int}
        return self.changed(came, properties={**own, **whole})


class SpeaksAscii(Fake):
    def wrong(self, command, came):
        if not _gives(came):
            return came
        body = came.outcome.message.body.encode("ascii", "replace").decode()
        return self.changed(came, body=body)


class CutsBodies(Fake):
    def wrong(self, command, came):
        return self.changed(came, body=came.outcome.message.body[:65536]) if _gives(came) else came


class RefusesLongOnes(Fake):
    def wrong(self, command, came):
        long = isinstance(command, v.Send) and len(command.message.body) > 65536
        return v.Observed(v.Refused(error=v.Error.OTHER, detail="too long")) if long else came


class RefusesWhenEmpty(Fake):
    def wrong(self, command, came):
        empty = isinstance(came.outcome, v.Empty)
        return v.Observed(v.Refused(error=v.Error.OTHER, detail="timed out")) if empty else came


class NeverDeletes(Fake):
    """Takes every receive for one in mode peek-lock."""

    last = None

    def start(self, profile):
        self.last = None
        super().start(profile)

    def wrong(self, command, came):
        if isinstance(command, v.Receive) and command.mode is v.ReceiveMode.RECEIVE_AND_DELETE:
            self.last = came if _gives(came) else self.last
            return self.last or came
        return came


class RaisesForRefusals(Fake):
    def wrong(self, command, came):
        if isinstance(came.outcome, v.Refused):
            raise KeyError(command.queue)
        return came


class KnowsOneConnection(Fake):
    def do(self, command, connection):
        if connection != "c1":
            raise ValueError(f"no connection {connection}")
        return super().do(command, connection)


class KeepsEverything(Fake):
    """Its second start is none."""

    started = False

    def start(self, profile):
        if not self.started:
            super().start(profile)
        self.started = True


class StandsStill(Fake):
    def wrong(self, command, came):
        return v.Observed(v.Unsupported()) if isinstance(command, v.AdvanceClock) else came


class GivesNoTokens(Fake):
    def wrong(self, command, came):
        return self.changed(came, lock_token=None) if _gives(came) else came


class ReusesTokens(Fake):
    """Hands every lock out under one name."""

    tokens = ()

    def do(self, command, connection):
        if isinstance(command, v.Complete) and command.lock_token == "the lock":  # noqa: S105 - no secret
            command = attrs.evolve(command, lock_token=self.tokens[-1])
        return self.wrong(command, ModelAdapter.do(self, command, connection))

    def wrong(self, command, came):
        if _gives(came) and came.outcome.message.lock_token:
            self.tokens = (*self.tokens, came.outcome.message.lock_token)
            return self.changed(came, lock_token="the lock")
        return came


class CompletesAnything(Fake):
    def wrong(self, command, came):
        return v.Observed(v.Done()) if isinstance(command, v.Complete) else came


class TellsCalendarTime(Fake):
    def wrong(self, command, came):
        locked = _gives(came) and came.outcome.message.locked_until is not None
        return self.changed(came, locked_until=1_700_000_000_000_000) if locked else came


class PeeksEmpty(Fake):
    def wrong(self, command, came):
        nothing = isinstance(came.outcome, v.Peeked) and not came.outcome.messages
        return v.Observed(v.Empty()) if nothing else came


class PeeksWithoutEnd(Fake):
    def wrong(self, command, came):
        shown = isinstance(command, v.Peek) and came.outcome.messages
        return v.Observed(v.Peeked(messages=(*shown, *shown))) if shown else came


class SharesSessions(Fake):
    def wrong(self, command, came):
        return v.Observed(v.Done()) if isinstance(command, v.AcceptSession) else came


class RefusesDuplicates(Fake):
    seen = frozenset()

    def wrong(self, command, came):
        if not isinstance(command, v.Send) or command.message.message_id is None:
            return came
        known = command.message.message_id in self.seen
        self.seen |= {command.message.message_id}
        return v.Observed(v.Refused(error=v.Error.OTHER, detail="duplicate")) if known else came

    def start(self, profile):
        self.seen = frozenset()
        super().start(profile)


class CommitsUnknown(Fake):
    def wrong(self, command, came):
        return v.Observed(v.Done()) if isinstance(command, v.CommitTransaction) else came


class HasFewPartitions(Fake):
    def wrong(self, command, came):
        beyond = isinstance(command, v.BringPartitionUp) and command.partition > 3
        return v.Observed(v.Refused(error=v.Error.NOT_FOUND)) if beyond else came


class TellsNoPartition(Fake):
    def wrong(self, command, came):
        came = attrs.evolve(came, witness=None)
        return self.changed(came, sequence_number=None) if _gives(came) else came


class CountsPartitionsFromOne(Fake):
    def wrong(self, command, came):
        witness = came.witness and v.Witness(partition=came.witness.partition + 1)
        return attrs.evolve(came, witness=witness)


class RoundsNumbers(Fake):
    """As a language would that has floating numbers only."""

    def wrong(self, command, came):
        return self.changed(came, sequence_number=float(2**53)) if _gives(came) else came


class HasNoRegularQueues(Fake):
    def wrong(self, command, came):
        regular = isinstance(command, v.CreateQueue) and not command.partitioned
        return v.Observed(v.Unsupported()) if regular else came


class ClaimsALibrary(Fake):
    @property
    def declaration(self):
        was = super().declaration
        return attrs.evolve(was, capabilities=was.capabilities | {v.Capability.CLIENT_LIBRARY})


class StopsOnce(Fake):
    stopped = False

    def stop(self):
        if self.stopped:
            raise RuntimeError("stopped already")
        self.stopped = True


class AnswersNothing(Fake):
    def wrong(self, command, came):
        return None


class Breaks(Fake):
    def wrong(self, command, came):
        raise AdapterError("the network is gone")


class IsSilent(Fake):
    def wrong(self, command, came):
        return v.Observed(v.Indeterminate()) if isinstance(command, v.Receive) else came


def fails():
    raise OSError("the port is taken")


def _gives(came):
    return isinstance(came.outcome, v.Received)
