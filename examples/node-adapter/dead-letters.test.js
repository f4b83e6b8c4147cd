import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { allPartitions, assertRefused, PARTITIONS, SECOND, TestBus } from './testing.js';

/** Receives a message and gives it up. */
function bury(bus, reason = 'broken') {
  const message = bus.receive();
  bus.queue.deadLetter(message.lockToken, reason);
  return message;
}

for (const partitioned of [true, false]) {
  const kind = partitioned ? 'partitioned' : 'regular';

  describe(`delivering too often in a ${kind} queue`, () => {
    it('dead-letters a message that came back from its last delivery', () => {
      const bus = new TestBus({ partitioned, maxDeliveryCount: 3 });
      bus.sendMany(2, { partitionKey: 'k' });
      for (const count of [1, 2]) {
        const { body, deliveryCount, lockToken } = bus.receive();
        assert.deepEqual([body, deliveryCount], ['body 1', count]);
        bus.queue.abandon(lockToken);
      }
      assert.equal(bus.receive().body, 'body 1');
      bus.advance(60 * SECOND);
      assert.deepEqual(bus.drainDeadLetters(), [['body 1', 'MaxDeliveryCountExceeded']]);
      assert.deepEqual(bus.queue.peek(5).map(({ body }) => body), ['body 2']);
      assert.deepEqual(bus.drain(), ['body 2']);
    });

    it('counts neither renewals nor peeks nor deliveries of others', () => {
      const bus = new TestBus({ partitioned, maxDeliveryCount: 2 });
      bus.sendMany(2, { partitionKey: 'k' });
      const { lockToken } = bus.receive();
      bus.queue.renewLock(lockToken);
      bus.queue.peek(2);
      bus.receive();
      bus.queue.abandon(lockToken);
      assert.equal(bus.receive().deliveryCount, 2);
    });
  });

  describe(`giving up a message of a ${kind} queue`, () => {
    it('moves it, whole, with the reason', () => {
      const bus = new TestBus({ partitioned });
      bus.send({ messageId: 'm', partitionKey: 'k' });
      bury(bus, 'not for me');
      assert.equal(bus.receive(), null);
      assert.deepEqual(bus.queue.peek(1), []);
      const { messageId, partitionKey, deadLetterReason } = bus.deadLetters.receive('peek-lock');
      assert.deepEqual([messageId, partitionKey, deadLetterReason], ['m', 'k', 'not for me']);
    });

    it('is refused with a lost lock, and adds nothing', () => {
      const bus = new TestBus({ partitioned });
      bus.send();
      const { lockToken } = bus.receive();
      bus.advance(60 * SECOND);
      assertRefused('lock-lost', () => bus.queue.deadLetter(lockToken, ''));
      assert.deepEqual(bus.drainDeadLetters(), []);
      assert.deepEqual(bus.drain(), ['body 1']);
    });
  });

  describe(`the dead-letter queue of a ${kind} queue`, () => {
    it('is there from the start, and is its own', () => {
      const bus = new TestBus({ partitioned });
      bus.create('other');
      assert.deepEqual(bus.drainDeadLetters(), []);
      bus.send();
      bury(bus);
      const other = bus.namespace.queue('other/$deadletterqueue');
      assert.equal(other.receive('peek-lock'), null);
      assert.equal(bus.drainDeadLetters().length, 1);
      assertRefused('not-found', () => bus.namespace.queue('none/$deadletterqueue'));
    });

    it('gives its messages like a queue, again and again', () => {
      const bus = new TestBus({ partitioned, maxDeliveryCount: 1, lockDuration: 30 * SECOND });
      bus.send();
      bus.queue.abandon(bus.receive().lockToken);
      for (const count of [1, 2, 3]) {
        const { lockToken, deliveryCount } = bus.deadLetters.receive('peek-lock');
        assert.equal(deliveryCount, count);
        assert.equal(bus.deadLetters.receive('peek-lock'), null);
        assert.equal(bus.deadLetters.peek(5).length, 1);
        if (count === 1) bus.advance(30 * SECOND);
        else if (count === 2) bus.deadLetters.abandon(lockToken);
        else bus.deadLetters.complete(lockToken);
      }
      assert.deepEqual(bus.deadLetters.peek(5), []);
    });

    it('takes neither messages nor dead letters of its own', () => {
      const bus = new TestBus({ partitioned });
      bus.send();
      bury(bus);
      const { lockToken } = bus.deadLetters.receive('peek-lock');
      assertRefused('invalid-operation', () => bus.deadLetters.deadLetter(lockToken, ''));
      assertRefused('invalid-operation', () => bus.send({}, { queue: 'q/$deadletterqueue' }));
      bus.deadLetters.abandon(lockToken);
      assert.deepEqual(bus.drainDeadLetters(), [['body 1', 'broken']]);
    });

    it('has no sessions, whatever the queue has', () => {
      const bus = new TestBus({ partitioned, requiresSession: true });
      bus.send({ sessionId: 's' });
      bus.queue.acceptSession('s', 'c1');
      const { lockToken } = bus.queue.receiveFromSession('s', 'c1', 'peek-lock');
      bus.queue.deadLetter(lockToken, 'broken');
      assertRefused('invalid-operation', () => bus.deadLetters.acceptSession('s', 'c1'));
      assert.equal(bus.deadLetters.receive('peek-lock').sessionId, 's');
    });
  });
}

describe('dead letters and partitions', () => {
  it('are found in whichever partition they are', () => {
    const bus = new TestBus();
    bus.sendMany(PARTITIONS);
    for (const _ of allPartitions()) bury(bus);
    assert.equal(new Set(bus.drainDeadLetters().map(([body]) => body)).size, PARTITIONS);
  });

  it('share the outages of their partition, which the queue is told of', () => {
    const bus = new TestBus();
    const home = bus.send();
    bury(bus);
    const { lockToken } = bus.deadLetters.receive('peek-lock');
    bus.takeDown(home);
    assertRefused('unavailable', () => bus.deadLetters.complete(lockToken));
    assert.deepEqual(bus.drainDeadLetters(), []);
    assertRefused('not-found', () => bus.namespace.setUp('q/$deadletterqueue', 0, false));
    bus.bringUp(home);
    bus.deadLetters.complete(lockToken);
  });
});
