import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';

import { partitionForKey } from './partition-key.js';
import { assertRefused, PARTITIONS, someKeys, TestBus } from './testing.js';

const KEYS = someKeys((key) => partitionForKey(key, PARTITIONS));
const inT = { transaction: 't' };

/** A bus on which transaction t has begun. */
function busInTransaction(settings) {
  const bus = new TestBus(settings);
  bus.namespace.beginTransaction('t');
  return bus;
}

describe('a transaction', () => {
  let bus;
  beforeEach(() => {
    bus = busInTransaction();
  });

  it('shows its messages at the commit, in order, and not before', () => {
    const home = bus.send({ partitionKey: 'k' }, inT);
    assert.equal(bus.send({ partitionKey: 'k' }, inT), home);
    assert.equal(bus.receive(), null);
    assert.deepEqual(bus.queue.peek(1), []);
    bus.namespace.commitTransaction('t');
    assert.deepEqual(bus.drain(), ['body 1', 'body 2']);
  });

  it('forgets them when rolled back', () => {
    bus.send({ partitionKey: 'k' }, inT);
    bus.namespace.rollBackTransaction('t');
    assert.equal(bus.receive(), null);
  });

  it('may be empty', () => {
    bus.namespace.commitTransaction('t');
    assert.equal(bus.receive(), null);
  });

  it('cannot be used once it has ended, nor before it began', () => {
    const { namespace } = bus;
    namespace.commitTransaction('t');
    for (const transaction of ['t', 'never']) {
      assertRefused('not-found', () => bus.send({ partitionKey: 'k' }, { transaction }));
      assertRefused('not-found', () => namespace.commitTransaction(transaction));
      assertRefused('not-found', () => namespace.rollBackTransaction(transaction));
    }
    assert.equal(bus.receive(), null);
  });

  it('has a name of its own, which is free again afterwards', () => {
    assertRefused('already-exists', () => bus.namespace.beginTransaction('t'));
    bus.namespace.rollBackTransaction('t');
    bus.namespace.beginTransaction('t');
  });

  it('does not touch sends outside it', () => {
    bus.send({ partitionKey: 'k' }, inT);
    bus.send({ partitionKey: 'other' });
    bus.namespace.rollBackTransaction('t');
    assert.deepEqual(bus.drain(), ['body 2']);
  });
});

describe('a transaction on a partitioned queue', () => {
  it('refuses a message without a key; a MessageId alone is none', () => {
    const bus = busInTransaction();
    assertRefused('invalid-operation', () => bus.send({}, inT));
    assertRefused('invalid-operation', () => bus.send({ messageId: 'm' }, inT));
  });

  it('takes a MessageId as the key where duplicates are detected', () => {
    const bus = busInTransaction({ duplicateDetection: true });
    bus.send({ messageId: 'm' }, inT);
    assertRefused('invalid-operation', () => bus.send({ messageId: 'n' }, inT));
    assertRefused('invalid-operation', () => bus.send({}, inT));
    bus.namespace.commitTransaction('t');
    assert.deepEqual(bus.drain(), ['body 1']);
  });

  it('refuses a second key, even one that selects the same partition', () => {
    const bus = busInTransaction();
    bus.send({ partitionKey: KEYS.first }, inT);
    assertRefused('invalid-operation', () => bus.send({ partitionKey: KEYS.other }, inT));
    assertRefused('invalid-operation', () => bus.send({ partitionKey: KEYS.neighbour }, inT));
  });

  it('refuses a second session', () => {
    const bus = busInTransaction({ requiresSession: true });
    bus.send({ sessionId: 's1' }, inT);
    assertRefused('invalid-operation', () => bus.send({ sessionId: 's2' }, inT));
  });

  it('needs a SessionId for a session-aware queue', () => {
    const bus = busInTransaction({ requiresSession: true });
    assertRefused('invalid-operation', () => bus.send({ partitionKey: 'k' }, inT));
    assertRefused('invalid-operation', () => bus.send({ sessionId: 's', partitionKey: 'k' }, inT));
    bus.send({ sessionId: 's', partitionKey: 's' }, inT);
  });

  it('sees one key in equal values of different properties', () => {
    const bus = busInTransaction();
    bus.send({ partitionKey: 'k' }, inT);
    bus.send({ sessionId: 'k' }, inT);
    bus.namespace.commitTransaction('t');
    assert.equal(bus.drain().length, 2);
  });

  it('lives on after a refused send, with what it held', () => {
    const bus = busInTransaction();
    assertRefused('invalid-operation', () => bus.send({}, inT));
    bus.send({ partitionKey: 'k' }, inT);
    assertRefused('invalid-operation', () => bus.send({ partitionKey: 'other' }, inT));
    bus.send({ partitionKey: 'k' }, inT);
    bus.namespace.commitTransaction('t');
    assert.deepEqual(bus.drain(), ['body 2', 'body 4']);
  });

  it('is not bound to the key of a refused send', () => {
    const bus = busInTransaction();
    const { first, other } = KEYS;
    bus.takeDown(partitionForKey(first, PARTITIONS));
    assertRefused('unavailable', () => bus.send({ partitionKey: first }, inT));
    bus.send({ partitionKey: other }, inT);
    bus.namespace.commitTransaction('t');
    assert.deepEqual(bus.drain(), ['body 2']);
  });

  it('cannot commit while its partition is down, and is rolled back then', () => {
    const bus = busInTransaction();
    const home = bus.send({ partitionKey: 'k' }, inT);
    bus.takeDown(home);
    assertRefused('unavailable', () => bus.namespace.commitTransaction('t'));
    bus.bringUp(home);
    assert.equal(bus.receive(), null);
    assertRefused('not-found', () => bus.namespace.commitTransaction('t'));
  });

  it('survives an outage that is over before the commit', () => {
    const bus = busInTransaction();
    const home = bus.send({ partitionKey: 'k' }, inT);
    bus.takeDown(home);
    bus.bringUp(home);
    bus.namespace.commitTransaction('t');
    assert.deepEqual(bus.drain(), ['body 1']);
  });

  it('has one key across all partitioned queues, and stores nothing by halves', () => {
    const bus = busInTransaction();
    bus.create('q2');
    bus.send({ partitionKey: 'k' }, inT);
    const toSecond = { ...inT, queue: 'q2' };
    assertRefused('invalid-operation', () => bus.send({ partitionKey: 'other' }, toSecond));
    const home = bus.send({ partitionKey: 'k' }, toSecond);
    bus.namespace.queue('q2').setUp(home, false);
    assertRefused('unavailable', () => bus.namespace.commitTransaction('t'));
    assert.equal(bus.receive(), null);
  });

  it('detects duplicates when it commits', () => {
    const bus = busInTransaction({ duplicateDetection: true });
    bus.send({ messageId: 'm' }, inT);
    bus.send({ messageId: 'm' }, inT);
    bus.namespace.commitTransaction('t');
    assert.deepEqual(bus.drain(), ['body 1']);
  });

  it('leaves no trace for duplicate detection when rolled back', () => {
    const bus = busInTransaction({ duplicateDetection: true });
    bus.send({ messageId: 'm' }, inT);
    bus.namespace.rollBackTransaction('t');
    bus.send({ messageId: 'm' });
    assert.deepEqual(bus.drain(), ['body 2']);
  });
});

describe('a transaction on a regular queue', () => {
  it('takes messages without a key and with different ones', () => {
    const bus = busInTransaction({ partitioned: false });
    for (const properties of [{}, { partitionKey: 'a' }, { partitionKey: 'b' }]) {
      assert.equal(bus.send(properties, inT), 0);
    }
    bus.namespace.commitTransaction('t');
    assert.deepEqual(bus.drain(), ['body 1', 'body 2', 'body 3']);
  });

  it('takes messages of different sessions', () => {
    const bus = busInTransaction({ partitioned: false, requiresSession: true });
    bus.send({ sessionId: 's1' }, inT);
    bus.send({ sessionId: 's2' }, inT);
    assertRefused('invalid-operation', () => bus.send({}, inT));
    bus.namespace.commitTransaction('t');
    assert.equal(bus.queue.peek(5).length, 2);
  });

  it('does not bind the key for partitioned queues', () => {
    const bus = busInTransaction({ partitioned: false });
    bus.create('partitioned');
    bus.send({ partitionKey: 'a' }, inT);
    bus.send({ partitionKey: 'b' }, { ...inT, queue: 'partitioned' });
    bus.namespace.commitTransaction('t');
  });

  it('does not free it from the key it has there either', () => {
    const bus = busInTransaction({ partitioned: false });
    bus.create('partitioned');
    const toPartitioned = { ...inT, queue: 'partitioned' };
    bus.send({ partitionKey: 'a' }, toPartitioned);
    bus.send({ partitionKey: 'b' }, inT);
    assertRefused('invalid-operation', () => bus.send({ partitionKey: 'b' }, toPartitioned));
  });

  it('is unavailable while the store is down', () => {
    const bus = busInTransaction({ partitioned: false });
    bus.takeDown(0);
    assertRefused('unavailable', () => bus.send({}, inT));
  });
});
