// What a session has besides its messages: a turn to be the next, a state, a place in the list.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { assertRefused, SECOND, TestBus } from './testing.js';

for (const partitioned of [true, false]) {
  const kind = partitioned ? 'partitioned' : 'regular';
  const sessionBus = (...sessionIds) => {
    const bus = new TestBus({ partitioned, requiresSession: true });
    for (const sessionId of sessionIds) bus.send({ sessionId });
    return bus;
  };

  describe(`the next session of a ${kind} queue`, () => {
    it('is each free one with messages, and then none', () => {
      const bus = sessionBus('a', 'b', 'c', 'a');
      const next = (connection) => bus.queue.acceptNextSession(connection);
      const accepted = [next('c1'), next('c2'), next('c1')];
      assert.deepEqual(accepted.sort(), ['a', 'b', 'c']);
      assert.equal(next('c3'), null);
    });

    it('is held by whoever accepted it', () => {
      const bus = sessionBus('a');
      assert.equal(bus.queue.acceptNextSession('c1'), 'a');
      assertRefused('session-cannot-be-locked', () => bus.queue.acceptSession('a', 'c2'));
      assert.equal(bus.queue.receiveFromSession('a', 'c1', 'peek-lock').body, 'body 1');
    });

    it('is none whose messages are gone, nor one that never had any', () => {
      const bus = sessionBus('a');
      bus.queue.acceptSession('a', 'c1');
      bus.queue.acceptSession('b', 'c1');
      bus.queue.receiveFromSession('a', 'c1', 'receive-and-delete');
      bus.queue.closeSession('a', 'c1');
      bus.queue.closeSession('b', 'c1');
      assert.equal(bus.queue.acceptNextSession('c1'), null);
    });

    it('is again one that was closed, or whose lock has ended', () => {
      const bus = sessionBus('a');
      bus.queue.acceptNextSession('c1');
      bus.queue.closeSession('a', 'c1');
      assert.equal(bus.queue.acceptNextSession('c2'), 'a');
      bus.advance(60 * SECOND);
      assert.equal(bus.queue.acceptNextSession('c1'), 'a');
    });

    it('is the one whose turn is the longest ago', () => {
      const bus = sessionBus('a', 'b');
      const turns = Array.from({ length: 4 }, () => {
        const sessionId = bus.queue.acceptNextSession('c1');
        bus.queue.closeSession(sessionId, 'c1');
        return sessionId;
      });
      assert.deepEqual(new Set(turns.slice(0, 2)), new Set(['a', 'b']));
      assert.deepEqual(turns.slice(2), turns.slice(0, 2));
    });
  });

  describe(`the state of a session in a ${kind} queue`, () => {
    const stateOf = (bus, sessionId, connection = 'c1') =>
      bus.queue.getSessionState(sessionId, connection);

    it('is none until one is set, and the last that was set from then on', () => {
      const bus = sessionBus('a');
      bus.queue.acceptSession('a', 'c1');
      assert.equal(stateOf(bus, 'a'), null);
      bus.queue.setSessionState('a', 'c1', 'one');
      bus.queue.setSessionState('a', 'c1', '');
      assert.equal(stateOf(bus, 'a'), '');
      bus.queue.setSessionState('a', 'c1', null);
      assert.equal(stateOf(bus, 'a'), null);
    });

    it('outlives messages, holders and outages', () => {
      const bus = sessionBus();
      const home = bus.send({ sessionId: 'a' });
      bus.queue.acceptSession('a', 'c1');
      bus.queue.setSessionState('a', 'c1', 'kept');
      bus.queue.receiveFromSession('a', 'c1', 'receive-and-delete');
      bus.queue.closeSession('a', 'c1');
      bus.queue.acceptSession('a', 'c2');
      bus.advance(60 * SECOND);
      bus.takeDown(home);
      assertRefused('unavailable', () => stateOf(bus, 'a', 'c2'));
      bus.bringUp(home);
      assertRefused('session-lock-lost', () => stateOf(bus, 'a', 'c2'));
      bus.queue.acceptSession('a', 'c3');
      assert.equal(stateOf(bus, 'a', 'c3'), 'kept');
    });

    it('is of this session, in this queue', () => {
      const bus = sessionBus();
      bus.create('other', { requiresSession: true });
      for (const sessionId of ['a', 'b']) bus.queue.acceptSession(sessionId, 'c1');
      bus.namespace.queue('other').acceptSession('a', 'c1');
      bus.queue.setSessionState('a', 'c1', 'of a');
      assert.equal(stateOf(bus, 'b'), null);
      assert.equal(bus.namespace.queue('other').getSessionState('a', 'c1'), null);
    });

    it('is for its holder alone', () => {
      const bus = sessionBus('a');
      const set = (connection) => bus.queue.setSessionState('a', connection, 'mine');
      assertRefused('session-lock-lost', () => stateOf(bus, 'a'));
      bus.queue.acceptSession('a', 'c1');
      assertRefused('session-lock-lost', () => set('c2'));
      assertRefused('session-lock-lost', () => stateOf(bus, 'a', 'c2'));
      assert.equal(stateOf(bus, 'a'), null);
    });
  });

  describe(`the list of the sessions of a ${kind} queue`, () => {
    it('names those that have messages or a state, once, and no others', () => {
      const bus = sessionBus('a', 'a', 'b', 'gone');
      for (const sessionId of ['a', 'with state', 'gone', 'bare']) {
        bus.queue.acceptSession(sessionId, 'c1');
      }
      bus.queue.receiveFromSession('a', 'c1', 'peek-lock');
      bus.queue.receiveFromSession('gone', 'c1', 'receive-and-delete');
      bus.queue.setSessionState('with state', 'c1', 's');
      assert.deepEqual(bus.queue.listSessions().sort(), ['a', 'b', 'with state']);
    });

    it('is refused while a partition is down', () => {
      const bus = sessionBus('a');
      bus.takeDown(0);
      assertRefused('unavailable', () => bus.queue.listSessions());
    });
  });
}

describe('queues without sessions', () => {
  it('have no next one, no state of one, and no list', () => {
    const { queue } = new TestBus();
    assertRefused('invalid-operation', () => queue.acceptNextSession('c1'));
    assertRefused('invalid-operation', () => queue.setSessionState('a', 'c1', 's'));
    assertRefused('invalid-operation', () => queue.getSessionState('a', 'c1'));
    assertRefused('invalid-operation', () => queue.renewSession('a', 'c1'));
    assertRefused('invalid-operation', () => queue.listSessions());
  });
});
