import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { assertRefused, SECOND, TestBus } from './testing.js';

/** The lock tokens of as many messages, which are received one by one. */
function locks(bus, number) {
  return Array.from({ length: number }, () => bus.receive().lockToken);
}

describe('settling several messages in one request', () => {
  it('settles all that are in one partition', () => {
    const bus = new TestBus({ partitioned: false });
    bus.sendMany(3);
    bus.queue.settleBatch(locks(bus, 3), 'complete', '');
    assert.equal(bus.receive(), null);
  });

  it('gives them back, each of them', () => {
    const bus = new TestBus({ partitioned: false });
    bus.sendMany(3);
    bus.queue.settleBatch(locks(bus, 3), 'abandon', '');
    assert.deepEqual(bus.drain(), ['body 1', 'body 2', 'body 3']);
  });

  it('is refused for two partitions, and settles none', () => {
    const bus = new TestBus();
    bus.sendMany(2);
    const both = locks(bus, 2);
    assertRefused('invalid-operation', () => bus.queue.settleBatch(both, 'complete', ''));
    for (const token of both) bus.queue.complete(token);
  });

  it('is refused for one lost lock, and settles none', () => {
    const bus = new TestBus({ partitioned: false });
    bus.sendMany(2);
    const both = locks(bus, 2);
    bus.queue.complete(both[0]);
    assertRefused('lock-lost', () => bus.queue.settleBatch(both, 'complete', ''));
    bus.queue.complete(both[1]);
  });

  it('renews all locks of one partition, and none of two', () => {
    const bus = new TestBus({ partitioned: false });
    bus.sendMany(2);
    const both = locks(bus, 2);
    bus.advance(40 * SECOND);
    assert.deepEqual(bus.queue.renewLocks(both), [100 * SECOND, 100 * SECOND]);
    const parted = new TestBus();
    parted.sendMany(2);
    const apart = locks(parted, 2);
    assertRefused('invalid-operation', () => parted.queue.renewLocks(apart));
  });

  it('dead-letters nothing a second time', () => {
    const bus = new TestBus({ partitioned: false });
    const settle = () => bus.queue.deadLetterQueue.settleBatch([], 'deadLetter', '');
    assertRefused('invalid-operation', settle);
  });
});
