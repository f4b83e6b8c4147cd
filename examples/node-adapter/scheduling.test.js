import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { assertRefused, SECOND, TestBus } from './testing.js';

for (const partitioned of [true, false]) {
  describe(`scheduling in a ${partitioned ? 'partitioned' : 'regular'} queue`, () => {
    const key = { partitionKey: 'k' };

    it('gives a message when it is due, and not before', () => {
      const bus = new TestBus({ partitioned });
      bus.schedule(30 * SECOND, { messageId: 'm' });
      bus.advance(30 * SECOND - 1);
      assert.equal(bus.receive(), null);
      bus.advance(1);
      assert.equal(bus.receive().messageId, 'm');
    });

    it('takes a time that has passed for now', () => {
      const bus = new TestBus({ partitioned });
      bus.schedule(-SECOND);
      assert.deepEqual(bus.drain(), ['body 1']);
    });

    it('gives a number that cancels, once', () => {
      const bus = new TestBus({ partitioned });
      const number = bus.schedule(30 * SECOND);
      bus.queue.cancelScheduled(number);
      assertRefused('message-not-found', () => bus.queue.cancelScheduled(number));
      assert.deepEqual(bus.queue.peek(1), []);
      bus.advance(30 * SECOND);
      assert.equal(bus.receive(), null);
    });

    it('cancels nothing that has arrived, nor what never was scheduled', () => {
      const bus = new TestBus({ partitioned });
      const number = bus.schedule(30 * SECOND);
      bus.advance(30 * SECOND);
      const [{ sequenceNumber }] = bus.queue.peek(1);
      for (const each of [number, sequenceNumber, -1, 2 ** 63]) {
        assertRefused('message-not-found', () => bus.queue.cancelScheduled(each));
      }
      assert.deepEqual(bus.drain(), ['body 1']);
    });

    it('lets messages arrive behind what came before, in the order of their times', () => {
      const bus = new TestBus({ partitioned });
      bus.schedule(20 * SECOND, key);
      bus.schedule(10 * SECOND, key);
      bus.send(key);
      bus.advance(15 * SECOND);
      bus.send(key);
      bus.advance(15 * SECOND);
      bus.send(key);
      assert.deepEqual(bus.drain(), ['body 3', 'body 2', 'body 4', 'body 1', 'body 5']);
    });

    it('shows a scheduled message to a peek, and gives it a new number when it is due', () => {
      const bus = new TestBus({ partitioned });
      const number = bus.schedule(10 * SECOND);
      const peeked = () => bus.queue.peek(1).map((each) => [each.sequenceNumber, each.state]);
      assert.deepEqual(peeked(), [[number, 'scheduled']]);
      bus.advance(10 * SECOND);
      assert.deepEqual(peeked(), [[number + 1, 'active']]);
    });

    it('keeps a message out of its session until it is due', () => {
      const bus = new TestBus({ partitioned, requiresSession: true });
      bus.schedule(10 * SECOND, { sessionId: 's' });
      assert.equal(bus.queue.acceptNextSession('c1'), null);
      assert.deepEqual(bus.queue.listSessions(), []);
      bus.queue.acceptSession('s', 'c1');
      const receive = () => bus.queue.receiveFromSession('s', 'c1', 'peek-lock');
      assert.equal(receive(), null);
      bus.advance(10 * SECOND);
      assert.equal(receive().body, 'body 1');
    });

    it('waits for the commit in a transaction, and is forgotten by a rollback', () => {
      const ends = { commitTransaction: ['body 1'], rollBackTransaction: [] };
      for (const [end, arrived] of Object.entries(ends)) {
        const bus = new TestBus({ partitioned });
        bus.namespace.beginTransaction('t');
        assert.equal(bus.schedule(10 * SECOND, key, 't'), null);
        bus.advance(20 * SECOND);
        assert.equal(bus.receive(), null);
        bus.namespace[end]('t');
        assert.deepEqual(bus.drain(), arrived);
      }
    });

    it('drops a duplicate when it is due', () => {
      const bus = new TestBus({ partitioned, duplicateDetection: true });
      bus.schedule(10 * SECOND, { messageId: 'm' });
      bus.send({ messageId: 'm' });
      bus.advance(10 * SECOND);
      assert.deepEqual(bus.drain(), ['body 2']);
    });
  });
}

describe('scheduling and partitions', () => {
  it('selects the partition by the key, and refuses two', () => {
    const bus = new TestBus();
    const home = bus.send({ partitionKey: 'k' });
    bus.take();
    bus.schedule(0, { partitionKey: 'k' });
    assert.equal(Math.floor(bus.receive().sequenceNumber / 2 ** 48), home);
    const differing = { sessionId: 'a', partitionKey: 'b' };
    assertRefused('invalid-operation', () => bus.schedule(SECOND, differing));
  });

  it('needs a key in a transaction', () => {
    const bus = new TestBus();
    bus.namespace.beginTransaction('t');
    assertRefused('invalid-operation', () => bus.schedule(SECOND, {}, 't'));
  });

  it('meets an outage when it is scheduled, and is delayed by one when it is due', () => {
    const bus = new TestBus();
    const home = bus.send({ partitionKey: 'k' });
    bus.take();
    const number = bus.schedule(10 * SECOND, { partitionKey: 'k', timeToLive: 5 * SECOND });
    bus.takeDown(home);
    assertRefused('unavailable', () => bus.schedule(SECOND, { partitionKey: 'k' }));
    assertRefused('unavailable', () => bus.queue.cancelScheduled(number));
    bus.advance(20 * SECOND);
    assert.equal(bus.receive(), null);
    bus.bringUp(home);
    assert.deepEqual(bus.drain(), ['body 2']);
  });
});
