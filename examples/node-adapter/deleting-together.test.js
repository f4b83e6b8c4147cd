import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { assertRefused, SECOND, TestBus } from './testing.js';

describe('deleting several messages in one request', () => {
  it('deletes the oldest, up to a number', () => {
    const bus = new TestBus({ partitioned: false });
    bus.sendMany(3);
    assert.equal(bus.queue.deleteBatch(2, null), 2);
    assert.deepEqual(bus.drain(), ['body 3']);
    assert.equal(bus.queue.deleteBatch(2, null), 0);
  });

  it('leaves what is locked, and what came later', () => {
    const bus = new TestBus({ partitioned: false });
    bus.sendMany(2);
    const { lockToken } = bus.receive();
    bus.advance(30 * SECOND);
    bus.sendMany(1);
    assert.equal(bus.queue.deleteBatch(9, 20 * SECOND), 1);
    bus.queue.complete(lockToken);
    assert.deepEqual(bus.drain(), ['body 3']);
  });

  it('is refused for a partitioned queue, and for sessions', () => {
    assertRefused('invalid-operation', () => new TestBus().queue.deleteBatch(1, null));
    const sessions = new TestBus({ partitioned: false, requiresSession: true });
    assertRefused('invalid-operation', () => sessions.queue.deleteBatch(1, null));
  });
});
