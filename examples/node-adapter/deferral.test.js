import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { partitionForKey } from './partition-key.js';
import { assertRefused, PARTITIONS, SECOND, someKeys, TestBus } from './testing.js';

const LOCK = 'peek-lock';
const KEYS = someKeys((key) => partitionForKey(key, PARTITIONS));

/** Receives a message and sets it aside; returns its number. */
function setAside(bus) {
  const { lockToken, sequenceNumber } = bus.receive();
  bus.queue.defer(lockToken);
  return sequenceNumber;
}

for (const partitioned of [true, false]) {
  describe(`deferring in a ${partitioned ? 'partitioned' : 'regular'} queue`, () => {
    const deferringBus = (count = 1, settings = {}) => {
      const bus = new TestBus({ partitioned, ...settings });
      bus.sendMany(count, { partitionKey: 'k' });
      return { bus, numbers: Array.from({ length: count }, () => setAside(bus)) };
    };

    it('sets a message aside, to be received by its number alone', () => {
      const { bus, numbers } = deferringBus();
      assert.equal(bus.receive(), null);
      const [message] = bus.queue.receiveDeferred(numbers, LOCK);
      assert.equal(message.body, 'body 1');
      assert.equal(message.sequenceNumber, numbers[0]);
      assert.equal(message.deliveryCount, 1, 'setting aside is no failed delivery');
    });

    it('shows it to a peek, as one that is deferred', () => {
      const { bus } = deferringBus();
      bus.send({ partitionKey: 'k' });
      const states = bus.queue.peek(5).map(({ body, state }) => [body, state]);
      assert.deepEqual(states, [['body 1', 'deferred'], ['body 2', 'active']]);
    });

    it('gives several at once, or none of them', () => {
      const { bus, numbers } = deferringBus(3);
      const [first, ...others] = numbers;
      bus.queue.complete(bus.queue.receiveDeferred([first], LOCK)[0].lockToken);
      assertRefused('message-not-found', () => bus.queue.receiveDeferred(numbers, LOCK));
      const messages = bus.queue.receiveDeferred(others, 'receive-and-delete');
      assert.deepEqual(messages.map(({ body }) => body), ['body 2', 'body 3']);
      assert.deepEqual(bus.queue.peek(5), []);
    });

    it('refuses the numbers of messages that are not deferred, or not there', () => {
      const bus = new TestBus({ partitioned });
      bus.send();
      const [{ sequenceNumber }] = bus.queue.peek(1);
      for (const number of [sequenceNumber, sequenceNumber + 1, -1, 2 ** 63]) {
        assertRefused('message-not-found', () => bus.queue.receiveDeferred([number], LOCK));
      }
      assert.deepEqual(bus.drain(), ['body 1']);
    });

    it('locks it for one receiver, and leaves it deferred when the lock ends', () => {
      const { bus, numbers } = deferringBus();
      for (const count of [1, 2, 3]) {
        const [{ lockToken, deliveryCount }] = bus.queue.receiveDeferred(numbers, LOCK);
        assert.equal(deliveryCount, count);
        assertRefused('message-not-found', () => bus.queue.receiveDeferred(numbers, LOCK));
        if (count === 1) bus.queue.abandon(lockToken);
        else bus.advance(60 * SECOND);
        assert.equal(bus.receive(), null);
      }
    });

    it('lets it be given up, by its receiver or by its failed deliveries', () => {
      const { bus, numbers } = deferringBus(2, { maxDeliveryCount: 1 });
      const [first, second] = bus.queue.receiveDeferred(numbers, LOCK);
      bus.queue.deadLetter(first.lockToken, 'broken');
      bus.queue.abandon(second.lockToken);
      assert.deepEqual(bus.drainDeadLetters(), [
        ['body 1', 'broken'], ['body 2', 'MaxDeliveryCountExceeded'],
      ]);
      assertRefused('message-not-found', () => bus.queue.receiveDeferred(numbers, LOCK));
    });

    it('is refused with a lost lock', () => {
      const bus = new TestBus({ partitioned });
      bus.send();
      const { lockToken } = bus.receive();
      bus.queue.abandon(lockToken);
      assertRefused('lock-lost', () => bus.queue.defer(lockToken));
      assert.deepEqual(bus.drain(), ['body 1']);
    });

    it('stays within a session, whose holder receives it', () => {
      const bus = new TestBus({ partitioned, requiresSession: true });
      for (const sessionId of ['s', 'other']) {
        bus.send({ sessionId });
        bus.queue.acceptSession(sessionId, 'c1');
      }
      const { lockToken, sequenceNumber } = bus.queue.receiveFromSession('s', 'c1', LOCK);
      bus.queue.defer(lockToken);
      const receive = (sessionId, connection) =>
        bus.queue.receiveDeferredFromSession(sessionId, connection, [sequenceNumber], LOCK);
      assertRefused('invalid-operation', () => bus.queue.receiveDeferred([sequenceNumber], LOCK));
      assertRefused('session-lock-lost', () => receive('s', 'c2'));
      assertRefused('message-not-found', () => receive('other', 'c1'));
      assert.equal(receive('s', 'c1')[0].body, 'body 1');
      bus.queue.closeSession('s', 'c1');
      bus.queue.acceptSession('s', 'c2');
      assert.equal(bus.queue.receiveFromSession('s', 'c2', LOCK), null);
      assert.equal(receive('s', 'c2')[0].deliveryCount, 1);
    });
  });
}

describe('deferring and partitions', () => {
  it('asks one partition at a time', () => {
    const bus = new TestBus();
    const numbers = [KEYS.first, KEYS.other].map((partitionKey) => {
      bus.send({ partitionKey });
      return setAside(bus);
    });
    assertRefused('invalid-operation', () => bus.queue.receiveDeferred(numbers, LOCK));
    assertRefused('invalid-operation', () => bus.queue.receiveDeferred([], LOCK));
    for (const number of numbers) {
      assert.equal(bus.queue.receiveDeferred([number], LOCK).length, 1);
    }
  });

  it('outlasts an outage', () => {
    const bus = new TestBus();
    const home = bus.send();
    const number = setAside(bus);
    bus.takeDown(home);
    assertRefused('unavailable', () => bus.queue.receiveDeferred([number], LOCK));
    bus.bringUp(home);
    assert.equal(bus.queue.receiveDeferred([number], LOCK)[0].body, 'body 1');
  });
});
