import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { assertRefused, SECOND, TestBus } from './testing.js';

const LOCK = 'peek-lock';

for (const partitioned of [true, false]) {
  const kind = partitioned ? 'partitioned' : 'regular';

  describe(`sessions of a ${kind} queue`, () => {
    const sessionBus = (settings) =>
      new TestBus({ partitioned, requiresSession: true, ...settings });

    it('refuses to send without a SessionId', () => {
      const bus = sessionBus();
      assertRefused('invalid-operation', () => bus.send());
      assertRefused('invalid-operation', () => bus.send({ partitionKey: 'k' }));
    });

    it('refuses to receive without a session', () => {
      const bus = sessionBus();
      bus.send({ sessionId: 's' });
      assertRefused('invalid-operation', () => bus.receive());
    });

    it('has no sessions in a queue created without them', () => {
      const { queue } = new TestBus({ partitioned });
      assertRefused('invalid-operation', () => queue.acceptSession('s', 'c1'));
      assertRefused('invalid-operation', () => queue.closeSession('s', 'c1'));
      assertRefused('invalid-operation', () => queue.receiveFromSession('s', 'c1', LOCK));
    });

    it('gives the session to its holder alone, in order', () => {
      const bus = sessionBus();
      for (const sessionId of ['s', 'other', 's', 'other', 's']) bus.send({ sessionId });
      bus.queue.acceptSession('s', 'c1');
      const receive = () => bus.queue.receiveFromSession('s', 'c1', LOCK)?.body ?? null;
      assert.deepEqual(
        [receive(), receive(), receive(), receive()],
        ['body 1', 'body 3', 'body 5', null],
      );
    });

    it('lets two connections hold two sessions', () => {
      const bus = sessionBus();
      bus.send({ sessionId: 's' });
      bus.send({ sessionId: 'other' });
      bus.queue.acceptSession('s', 'c1');
      bus.queue.acceptSession('other', 'c2');
      assert.equal(bus.queue.receiveFromSession('s', 'c1', LOCK).body, 'body 1');
      assert.equal(bus.queue.receiveFromSession('other', 'c2', LOCK).body, 'body 2');
    });

    it('refuses everybody else', () => {
      const bus = sessionBus();
      bus.send({ sessionId: 's' });
      const receive = (connection) => bus.queue.receiveFromSession('s', connection, LOCK);
      assertRefused('session-lock-lost', () => receive('c1'));
      bus.queue.acceptSession('s', 'c1');
      assertRefused('session-cannot-be-locked', () => bus.queue.acceptSession('s', 'c2'));
      assertRefused('session-lock-lost', () => receive('c2'));
      assertRefused('session-lock-lost', () => bus.queue.closeSession('s', 'c2'));
      assert.equal(receive('c1').body, 'body 1');
    });

    it('ends the session lock at its time, and the message locks with it', () => {
      const bus = sessionBus({ lockDuration: 30 * SECOND });
      bus.send({ sessionId: 's' });
      bus.queue.acceptSession('s', 'c1');
      bus.advance(10 * SECOND);
      const { lockToken, lockedUntil } = bus.queue.receiveFromSession('s', 'c1', LOCK);
      assert.equal(lockedUntil, 30 * SECOND);
      bus.advance(20 * SECOND - 1);
      assertRefused('session-cannot-be-locked', () => bus.queue.acceptSession('s', 'c2'));
      bus.advance(1);
      assertRefused('session-lock-lost', () => bus.queue.receiveFromSession('s', 'c1', LOCK));
      assertRefused('lock-lost', () => bus.queue.complete(lockToken));
      bus.queue.acceptSession('s', 'c2');
      assert.equal(bus.queue.receiveFromSession('s', 'c2', LOCK).deliveryCount, 2);
    });

    it('starts the time again for a holder that accepts again', () => {
      const bus = sessionBus({ lockDuration: 30 * SECOND });
      bus.queue.acceptSession('s', 'c1');
      bus.queue.acceptSession('other', 'c1');
      bus.advance(20 * SECOND);
      bus.queue.acceptSession('s', 'c1');
      bus.advance(20 * SECOND);
      assert.equal(bus.queue.receiveFromSession('s', 'c1', LOCK), null);
      assertRefused('session-lock-lost', () => bus.queue.receiveFromSession('other', 'c1', LOCK));
    });

    it('frees the session and its messages when it is closed', () => {
      const bus = sessionBus();
      for (const sessionId of ['s', 's', 's']) bus.send({ sessionId });
      bus.queue.acceptSession('s', 'c1');
      const first = bus.queue.receiveFromSession('s', 'c1', LOCK);
      const second = bus.queue.receiveFromSession('s', 'c1', LOCK);
      bus.queue.complete(first.lockToken);
      bus.queue.closeSession('s', 'c1');
      assertRefused('lock-lost', () => bus.queue.complete(second.lockToken));
      assertRefused('session-lock-lost', () => bus.queue.receiveFromSession('s', 'c1', LOCK));
      bus.queue.acceptSession('s', 'c2');
      const receive = () => bus.queue.receiveFromSession('s', 'c2', 'receive-and-delete')?.body;
      assert.deepEqual([receive(), receive(), receive()], ['body 2', 'body 3', undefined]);
    });

    it('gives an abandoned message next', () => {
      const bus = sessionBus();
      for (const sessionId of ['s', 's']) bus.send({ sessionId });
      bus.queue.acceptSession('s', 'c1');
      bus.queue.abandon(bus.queue.receiveFromSession('s', 'c1', LOCK).lockToken);
      const { body, deliveryCount } = bus.queue.receiveFromSession('s', 'c1', LOCK);
      assert.deepEqual([body, deliveryCount], ['body 1', 2]);
    });

    it('may be accepted before it has any message', () => {
      const bus = sessionBus();
      bus.queue.acceptSession('s', 'c1');
      assert.equal(bus.queue.receiveFromSession('s', 'c1', LOCK), null);
      bus.send({ sessionId: 's' });
      assert.equal(bus.queue.receiveFromSession('s', 'c1', LOCK).body, 'body 1');
    });

    it('is unavailable as a whole while its partition is down', () => {
      const bus = sessionBus();
      const home = bus.send({ sessionId: 's' });
      bus.queue.acceptSession('s', 'c1');
      bus.takeDown(home);
      assertRefused('unavailable', () => bus.queue.receiveFromSession('s', 'c1', LOCK));
      assertRefused('unavailable', () => bus.queue.acceptSession('s', 'c1'));
      assertRefused('unavailable', () => bus.queue.closeSession('s', 'c1'));
      assertRefused('unavailable', () => bus.send({ sessionId: 's' }));
      bus.bringUp(home);
      assert.equal(bus.queue.receiveFromSession('s', 'c1', LOCK).body, 'body 1');
    });
  });
}

describe('keys of a session-aware queue', () => {
  it('takes an equal PartitionKey and refuses another', () => {
    const bus = new TestBus({ requiresSession: true });
    bus.send({ sessionId: 's', partitionKey: 's' });
    assertRefused('invalid-operation', () => bus.send({ sessionId: 's', partitionKey: 'k' }));
  });
});
