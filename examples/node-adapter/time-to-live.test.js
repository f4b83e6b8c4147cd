import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { SECOND, TestBus } from './testing.js';

const BRIEFLY = { partitionKey: 'k', timeToLive: 10 * SECOND };

for (const partitioned of [true, false]) {
  describe(`time to live in a ${partitioned ? 'partitioned' : 'regular'} queue`, () => {
    const expiringBus = (settings = {}) =>
      new TestBus({ partitioned, deadLetterExpired: true, ...settings });
    const expired = (body) => [body, 'TTLExpiredException'];

    it('ends a message at its time, and not before', () => {
      const bus = expiringBus();
      bus.sendMany(2, BRIEFLY);
      bus.advance(10 * SECOND - 1);
      assert.equal(bus.take().body, 'body 1');
      bus.advance(1);
      assert.equal(bus.receive(), null);
      assert.deepEqual(bus.queue.peek(5), []);
      assert.deepEqual(bus.drainDeadLetters(), [expired('body 2')]);
    });

    it('is the shorter one of those of the message and of the queue', () => {
      const bus = expiringBus({ timeToLive: 20 * SECOND });
      bus.send({ timeToLive: 30 * SECOND });
      bus.send({ timeToLive: 10 * SECOND });
      bus.send();
      bus.advance(10 * SECOND);
      assert.deepEqual(bus.drainDeadLetters(), [expired('body 2')]);
      bus.advance(10 * SECOND - 1);
      assert.equal(bus.queue.receive('receive-and-delete').timeToLive, 30 * SECOND);
      bus.advance(1);
      assert.deepEqual(bus.drainDeadLetters(), [expired('body 3')]);
    });

    it('drops a message unless dead letters are asked for', () => {
      const bus = expiringBus({ deadLetterExpired: false });
      bus.send(BRIEFLY);
      bus.advance(10 * SECOND);
      assert.deepEqual(bus.drainDeadLetters(), []);
      assert.deepEqual(bus.drain(), []);
    });

    it('lets those in the midst of a line end, and the others stay', () => {
      const bus = expiringBus();
      for (const timeToLive of [null, 10 * SECOND, null, 10 * SECOND, null]) {
        bus.send({ partitionKey: 'k', timeToLive });
      }
      bus.advance(10 * SECOND);
      assert.deepEqual(bus.drain(), ['body 1', 'body 3', 'body 5']);
    });

    it('waits for the end of a lock, with which the message can still be settled', () => {
      const settlings = {
        complete: [],
        deadLetter: [['body 1', 'broken']],
        defer: [],
        abandon: [expired('body 1')],
      };
      for (const [settle, deadLetters] of Object.entries(settlings)) {
        const bus = expiringBus();
        bus.send(BRIEFLY);
        const { lockToken } = bus.receive();
        bus.advance(20 * SECOND);
        bus.queue[settle](lockToken, 'broken');
        assert.equal(bus.receive(), null);
        assert.deepEqual(bus.drainDeadLetters(), deadLetters, settle);
      }
    });

    it('ends a message whose lock ends after its time', () => {
      const bus = expiringBus();
      bus.send(BRIEFLY);
      bus.receive();
      bus.advance(60 * SECOND);
      assert.deepEqual(bus.drainDeadLetters(), [expired('body 1')]);
    });

    it('does not end a deferred message', () => {
      const bus = expiringBus();
      bus.send(BRIEFLY);
      const { lockToken, sequenceNumber } = bus.receive();
      bus.queue.defer(lockToken);
      bus.advance(20 * SECOND);
      assert.deepEqual(bus.drainDeadLetters(), []);
      assert.equal(bus.queue.receiveDeferred([sequenceNumber], 'peek-lock')[0].body, 'body 1');
    });

    it('begins for a scheduled message when that is due', () => {
      const bus = expiringBus();
      bus.schedule(30 * SECOND, BRIEFLY);
      bus.advance(40 * SECOND - 1);
      assert.equal(bus.queue.peek(1).length, 1);
      bus.advance(1);
      assert.deepEqual(bus.drainDeadLetters(), [expired('body 1')]);
    });

    it('ends nothing in a dead-letter queue', () => {
      const bus = expiringBus({ timeToLive: 10 * SECOND });
      bus.send(BRIEFLY);
      bus.advance(3600 * SECOND);
      bus.receive();
      bus.advance(3600 * SECOND);
      assert.deepEqual(bus.drainDeadLetters(), [expired('body 1')]);
    });

    it('makes a session without other messages none that is next', () => {
      const bus = expiringBus({ requiresSession: true });
      bus.send({ sessionId: 's', timeToLive: 10 * SECOND });
      bus.advance(10 * SECOND);
      assert.equal(bus.queue.acceptNextSession('c1'), null);
      assert.deepEqual(bus.queue.listSessions(), []);
    });
  });
}

describe('time to live and partitions', () => {
  it('passes in an outage too', () => {
    const bus = new TestBus();
    const home = bus.send(BRIEFLY);
    bus.takeDown(home);
    bus.advance(10 * SECOND);
    bus.bringUp(home);
    assert.equal(bus.receive(), null);
  });
});
