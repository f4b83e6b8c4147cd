import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { partitionForKey } from './partition-key.js';
import {
  allPartitions, assertRefused, PARTITIONS, SECOND, someKeys, TestBus,
} from './testing.js';

const KEYS = someKeys((key) => partitionForKey(key, PARTITIONS));

describe('creating queues', () => {
  it('refuses a name that is taken', () => {
    assertRefused('already-exists', () => new TestBus().create('q'));
  });

  it('refuses a partitioned queue in the premium tier, and creates a regular one there', () => {
    assertRefused('invalid-operation', () => new TestBus({}, { tier: 'premium' }));
    const bus = new TestBus({ partitioned: false }, { tier: 'premium' });
    assert.equal(bus.send(), 0);
  });

  it('refuses locks of more than five minutes', () => {
    assertRefused('invalid-operation', () => new TestBus({ lockDuration: 300_000_001 }));
  });

  it('knows no other queues than those created', () => {
    assertRefused('not-found', () => new TestBus().send({}, { queue: 'other' }));
  });
});

describe('selecting a partition', () => {
  it('sends equal keys to one partition, whichever property carries them', () => {
    const bus = new TestBus();
    const taken = [
      bus.send({ partitionKey: 'k' }),
      bus.send({ sessionId: 'k' }),
      bus.send({ sessionId: 'k', partitionKey: 'k' }),
      bus.send({ partitionKey: 'k', messageId: 'm' }),
    ];
    assert.equal(new Set(taken).size, 1);
  });

  it('spreads different keys', () => {
    const bus = new TestBus();
    const taken = new Set();
    for (let index = 0; index < 400; index += 1) {
      taken.add(bus.send({ partitionKey: `key ${index}` }));
    }
    assert.equal(taken.size, PARTITIONS);
  });

  it('goes by the MessageId if duplicates are detected and nothing else is set', () => {
    const bus = new TestBus({ duplicateDetection: true });
    const { first, other } = KEYS;
    const home = bus.send({ messageId: first });
    assert.equal(bus.send({ messageId: first }), home);
    assert.notEqual(bus.send({ messageId: first, partitionKey: other }), home);
    assert.notEqual(bus.send({ messageId: first, sessionId: other }), home);
  });

  it('does not go by the MessageId without duplicate detection', () => {
    const bus = new TestBus();
    assert.equal(new Set(allPartitions().map(() => bus.send({ messageId: 'm' }))).size, PARTITIONS);
  });

  it('refuses two different keys, and takes nothing', () => {
    const bus = new TestBus();
    assertRefused('invalid-operation', () => bus.send({ sessionId: 'a', partitionKey: 'b' }));
    assert.equal(bus.receive(), null);
  });

  it('tells keys apart by case and takes an empty one as set', () => {
    const bus = new TestBus();
    assertRefused('invalid-operation', () => bus.send({ sessionId: 'a', partitionKey: 'A' }));
    assertRefused('invalid-operation', () => bus.send({ sessionId: 'a', partitionKey: '' }));
    assert.equal(new Set(bus.sendMany(PARTITIONS, { partitionKey: '' })).size, 1);
  });

  it('goes round robin without a key', () => {
    const bus = new TestBus();
    const rounds = bus.sendMany(2 * PARTITIONS);
    assert.deepEqual(rounds, [...allPartitions(), ...allPartitions()]);
  });

  it('does not let keyed sends disturb the round', () => {
    const bus = new TestBus();
    assert.equal(bus.send(), 0);
    bus.sendMany(5, { partitionKey: 'k' });
    assert.equal(bus.send(), 1);
  });

  it('keeps a regular queue in one store and lets its keys differ', () => {
    const bus = new TestBus({ partitioned: false });
    assert.deepEqual(new Set(bus.sendMany(PARTITIONS)), new Set([0]));
    assert.equal(bus.send({ sessionId: 'a', partitionKey: 'b' }), 0);
  });
});

describe('sequence numbers', () => {
  it('count in each partition, with the partition in the top 16 bits', () => {
    const bus = new TestBus();
    const home = bus.send({ partitionKey: 'k' });
    bus.send({ partitionKey: 'k' });
    const numbers = [bus.take(), bus.take()].map(({ sequenceNumber }) => BigInt(sequenceNumber));
    const base = BigInt(home) << 48n;
    assert.deepEqual(numbers, [base + 1n, base + 2n]);
  });

  it('stay exact in the last partition there can be', () => {
    const bus = new TestBus({}, { partitions: 32 });
    bus.sendMany(32 * 3);
    const seen = Array.from({ length: 96 }, () => BigInt(bus.take().sequenceNumber));
    assert.equal(new Set(seen).size, 96);
    assert.equal(seen.reduce((a, b) => (a > b ? a : b)), (31n << 48n) + 3n);
  });

  it('are 1, 2, 3 in a regular queue', () => {
    const bus = new TestBus({ partitioned: false });
    bus.sendMany(3);
    const numbers = [bus.take(), bus.take(), bus.take()].map((message) => message.sequenceNumber);
    assert.deepEqual(numbers, [1, 2, 3]);
  });

  it('are not spent on refused, dropped or rolled-back messages', () => {
    const bus = new TestBus({ partitioned: false, duplicateDetection: true });
    bus.send({ messageId: 'm' });
    bus.send({ messageId: 'm' });
    bus.namespace.beginTransaction('t');
    bus.send({}, { transaction: 't' });
    bus.namespace.rollBackTransaction('t');
    bus.takeDown(0);
    assertRefused('unavailable', () => bus.send());
    bus.bringUp(0);
    bus.send();
    assert.deepEqual([bus.take().sequenceNumber, bus.take().sequenceNumber], [1, 2]);
  });
});

describe('outages and sending', () => {
  it('refuses a keyed message whose partition is down, and takes it once it is up', () => {
    const bus = new TestBus();
    const home = bus.send({ partitionKey: 'k' });
    bus.takeDown(home);
    assertRefused('unavailable', () => bus.send({ partitionKey: 'k' }));
    assertRefused('unavailable', () => bus.send({ sessionId: 'k' }));
    bus.bringUp(home);
    assert.equal(bus.send({ partitionKey: 'k' }), home);
    assert.equal(bus.drain().length, 2);
  });

  it('takes a keyed message while other partitions are down', () => {
    const bus = new TestBus();
    const home = bus.send({ partitionKey: 'k' });
    bus.takeDown(...allPartitions().filter((number) => number !== home));
    assert.equal(bus.send({ partitionKey: 'k' }), home);
  });

  it('lets another partition take an unkeyed message', () => {
    const bus = new TestBus();
    bus.takeDown(0, 1);
    assert.deepEqual(bus.sendMany(3), [2, 3, 4]);
  });

  it('finds the only partition that is left', () => {
    const bus = new TestBus();
    bus.takeDown(...allPartitions().filter((number) => number !== 7));
    assert.deepEqual(bus.sendMany(3), [7, 7, 7]);
  });

  it('needs more than 15 seconds for that', () => {
    const bus = new TestBus();
    bus.takeDown(0, 2);
    assertRefused('unavailable', () => bus.send({}, { timeout: 15 * SECOND }));
    assert.equal(bus.send({}, { timeout: 15 * SECOND }), 1, 'the round goes on after a failure');
    assert.equal(bus.send({}, { timeout: 15 * SECOND + 1 }), 3);
  });

  it('does not mind a short timeout while all partitions are up', () => {
    const bus = new TestBus();
    assert.deepEqual(allPartitions().map(() => bus.send({}, { timeout: 0 })), allPartitions());
  });

  it('refuses everything with all partitions down', () => {
    const bus = new TestBus();
    bus.takeAllDown();
    assertRefused('unavailable', () => bus.send());
    assertRefused('unavailable', () => bus.send({ partitionKey: 'k' }));
    assertRefused('unavailable', () => bus.receive());
    assertRefused('unavailable', () => bus.queue.peek(1));
  });

  it('calls an invalid message invalid, up or down', () => {
    const bus = new TestBus();
    bus.takeAllDown();
    assertRefused('invalid-operation', () => bus.send({ sessionId: 'a', partitionKey: 'b' }));
  });

  it('stops a regular queue as a whole', () => {
    const bus = new TestBus({ partitioned: false });
    bus.takeDown(0);
    assertRefused('unavailable', () => bus.send());
  });

  it('concerns one queue only', () => {
    const bus = new TestBus();
    bus.create('other');
    bus.takeAllDown();
    assert.equal(bus.send({}, { queue: 'other' }), 0);
  });

  it('knows no partitions beyond the last', () => {
    const bus = new TestBus();
    assertRefused('not-found', () => bus.takeDown(PARTITIONS));
    assertRefused('not-found', () => bus.bringUp(PARTITIONS));
    assertRefused('not-found', () => new TestBus({ partitioned: false }).takeDown(1));
  });

  it('may be told of an outage twice', () => {
    const bus = new TestBus();
    bus.takeDown(0, 0);
    bus.bringUp(0, 0);
    assert.equal(bus.send(), 0);
  });
});

describe('duplicate detection', () => {
  for (const partitioned of [true, false]) {
    const kind = partitioned ? 'partitioned' : 'regular';

    it(`drops a second copy in a ${kind} queue, with the sender none the wiser`, () => {
      const bus = new TestBus({ partitioned, duplicateDetection: true });
      const home = bus.send({ messageId: 'm', body: 'first' });
      assert.equal(bus.send({ messageId: 'm', body: 'second' }), home);
      assert.deepEqual(bus.drain(), ['first']);
    });

    it(`drops it in a ${kind} queue even when the first is received already`, () => {
      const bus = new TestBus({ partitioned, duplicateDetection: true });
      bus.send({ messageId: 'm' });
      bus.take();
      bus.send({ messageId: 'm' });
      assert.equal(bus.receive(), null);
    });
  }

  it('forgets an id when the window is over, and not before', () => {
    const bus = new TestBus({ duplicateDetection: true, duplicateWindow: 20 * SECOND });
    bus.send({ messageId: 'm', body: 'first' });
    bus.advance(20 * SECOND - 1);
    bus.send({ messageId: 'm', body: 'second' });
    bus.advance(1);
    bus.send({ messageId: 'm', body: 'third' });
    assert.deepEqual(bus.drain(), ['first', 'third']);
  });

  it('is off unless asked for', () => {
    const bus = new TestBus();
    bus.sendMany(2, { messageId: 'm', partitionKey: 'k' });
    assert.equal(bus.drain().length, 2);
  });

  it('compares MessageIds, not keys', () => {
    const bus = new TestBus({ duplicateDetection: true });
    bus.send({ messageId: 'm1', partitionKey: 'k' });
    bus.send({ messageId: 'm2', partitionKey: 'k' });
    bus.send({ messageId: 'm2', partitionKey: 'k' });
    bus.sendMany(2, { partitionKey: 'k' });
    assert.equal(bus.drain().length, 4);
  });

  it('does not see a copy that goes to another partition', () => {
    const bus = new TestBus({ duplicateDetection: true });
    bus.send({ messageId: 'm', partitionKey: KEYS.first });
    bus.send({ messageId: 'm', partitionKey: KEYS.other });
    assert.equal(bus.drain().length, 2);
  });
});

describe('receiving', () => {
  it('gives the messages of a regular queue and of one key in the order sent', () => {
    for (const settings of [{ partitioned: false }, {}]) {
      const bus = new TestBus(settings);
      const bodies = Array.from({ length: 50 }, (_, index) => `body ${index + 1}`);
      bus.sendMany(50, { partitionKey: 'k' });
      assert.deepEqual(bus.drain(), bodies);
    }
  });

  it('gives every message once', () => {
    const bus = new TestBus();
    bus.sendMany(100);
    assert.equal(new Set(bus.drain()).size, 100);
    assert.equal(bus.receive(), null);
  });

  it('returns a message as it was sent', () => {
    const bus = new TestBus();
    const keys = { sessionId: 'k', partitionKey: 'k' };
    const message = { body: 'b', messageId: 'm', ...keys, timeToLive: 7 * SECOND };
    const home = bus.send(message);
    const sequenceNumber = home * 2 ** 48 + 1;
    assert.deepEqual(bus.take(), { ...message, sequenceNumber, deliveryCount: 1 });
  });

  it('locks a message until a stated time', () => {
    const bus = new TestBus({ lockDuration: 30 * SECOND });
    bus.advance(5 * SECOND);
    bus.send();
    assert.equal(bus.receive().lockedUntil, 35 * SECOND);
    assert.equal(bus.receive(), null);
  });

  it('gives each lock its own token', () => {
    const bus = new TestBus();
    bus.create('other');
    bus.sendMany(40);
    bus.send({}, { queue: 'other' });
    const tokens = Array.from({ length: 40 }, () => bus.receive().lockToken);
    tokens.push(bus.namespace.queue('other').receive('peek-lock').lockToken);
    assert.equal(new Set(tokens).size, 41);
  });

  it('passes over partitions that are down and finds their messages later', () => {
    const bus = new TestBus();
    bus.sendMany(PARTITIONS);
    bus.takeDown(0, 5);
    assert.equal(bus.drain().length, PARTITIONS - 2);
    bus.bringUp(0, 5);
    assert.deepEqual(bus.drain().sort(), ['body 1', 'body 6']);
  });

  it('starves no partition', () => {
    const bus = new TestBus();
    bus.sendMany(10 * PARTITIONS);
    const firstRound = allPartitions().map(() => Math.floor(bus.take().sequenceNumber / 2 ** 48));
    assert.deepEqual(firstRound, allPartitions());
  });
});

describe('settling', () => {
  it('removes a completed message for good', () => {
    const bus = new TestBus();
    bus.send();
    bus.queue.complete(bus.receive().lockToken);
    bus.advance(3600 * SECOND);
    assert.equal(bus.receive(), null);
    assert.deepEqual(bus.queue.peek(1), []);
  });

  it('puts an abandoned message back into its place', () => {
    const bus = new TestBus({ partitioned: false });
    bus.sendMany(4);
    const locked = [bus.receive(), bus.receive(), bus.receive()];
    bus.queue.abandon(locked[2].lockToken);
    bus.queue.abandon(locked[0].lockToken);
    bus.queue.abandon(locked[1].lockToken);
    assert.deepEqual(bus.drain(), ['body 1', 'body 2', 'body 3', 'body 4']);
  });

  it('counts deliveries', () => {
    const bus = new TestBus();
    bus.send();
    const first = bus.receive();
    bus.queue.abandon(first.lockToken);
    const second = bus.receive();
    assert.deepEqual([first.deliveryCount, second.deliveryCount], [1, 2]);
    assert.notEqual(first.lockToken, second.lockToken);
  });

  it('gives a message again when its lock ends, and not before', () => {
    const bus = new TestBus({ lockDuration: 30 * SECOND });
    bus.send();
    bus.receive();
    bus.advance(30 * SECOND - 1);
    assert.equal(bus.receive(), null);
    bus.advance(1);
    assert.equal(bus.receive().deliveryCount, 2);
  });

  it('refuses a lock that ended, was used, or never was', () => {
    const bus = new TestBus();
    bus.sendMany(3);
    const [completed, abandoned, expired] = [bus.receive(), bus.receive(), bus.receive()];
    bus.queue.complete(completed.lockToken);
    bus.queue.abandon(abandoned.lockToken);
    bus.advance(60 * SECOND);
    const tokens = [completed, abandoned, expired].map(({ lockToken }) => lockToken);
    for (const token of [...tokens, '', 'nonsense', 'q/99/1', 'q/0/99']) {
      assertRefused('lock-lost', () => bus.queue.complete(token));
      assertRefused('lock-lost', () => bus.queue.abandon(token));
    }
  });

  it('refuses the lock of another queue', () => {
    const bus = new TestBus();
    bus.create('other');
    bus.send();
    bus.send({}, { queue: 'other' });
    const { lockToken } = bus.receive();
    assertRefused('lock-lost', () => bus.namespace.queue('other').complete(lockToken));
    bus.queue.complete(lockToken);
  });

  it('is unavailable while the partition is down, and possible afterwards', () => {
    const bus = new TestBus();
    const home = bus.send({ partitionKey: 'k' });
    const { lockToken } = bus.receive();
    bus.takeDown(home);
    assertRefused('unavailable', () => bus.queue.complete(lockToken));
    assertRefused('unavailable', () => bus.queue.abandon(lockToken));
    bus.bringUp(home);
    bus.queue.complete(lockToken);
    assert.equal(bus.receive(), null);
  });

  it('finds after an outage that the lock has ended meanwhile', () => {
    const bus = new TestBus();
    const home = bus.send({ partitionKey: 'k' });
    const { lockToken } = bus.receive();
    bus.takeDown(home);
    bus.advance(60 * SECOND);
    bus.bringUp(home);
    assertRefused('lock-lost', () => bus.queue.complete(lockToken));
    assert.equal(bus.receive().deliveryCount, 2);
  });

  it('lets the last delivery be completed', () => {
    const bus = new TestBus({ maxDeliveryCount: 1 });
    bus.send();
    bus.queue.complete(bus.receive().lockToken);
  });
});

describe('peeking', () => {
  it('shows the oldest of a regular queue, the locked ones too, and changes nothing', () => {
    const bus = new TestBus({ partitioned: false });
    bus.sendMany(3);
    bus.receive();
    const shown = [bus.queue.peek(2), bus.queue.peek(2)];
    assert.deepEqual(shown[0], shown[1]);
    assert.deepEqual(shown[0].map(({ body }) => body), ['body 1', 'body 2']);
    assert.deepEqual(shown[0].map(({ deliveryCount }) => deliveryCount), [1, 0]);
    assert.ok(shown[0].every((message) => !('lockToken' in message)));
    assert.equal(bus.receive().body, 'body 2');
  });

  it('shows one partition only, so fewer than asked for may come', () => {
    const bus = new TestBus();
    bus.sendMany(2 * PARTITIONS);
    const shown = bus.queue.peek(10);
    assert.equal(shown.length, 2);
    const partitions = shown.map(({ sequenceNumber }) => Math.floor(sequenceNumber / 2 ** 48));
    assert.equal(partitions[0], partitions[1]);
  });

  it('finds the one partition that has messages, unless it is down', () => {
    const bus = new TestBus();
    const home = bus.send({ partitionKey: 'k' });
    assert.equal(bus.queue.peek(1).length, 1);
    bus.takeDown(home);
    assert.deepEqual(bus.queue.peek(1), []);
  });

  it('shows nothing of an empty queue, and nothing if nothing is asked for', () => {
    const bus = new TestBus();
    assert.deepEqual(bus.queue.peek(3), []);
    bus.send();
    assert.deepEqual(bus.queue.peek(0), []);
  });

  it('needs no session in a session-aware queue', () => {
    const bus = new TestBus({ requiresSession: true });
    bus.send({ sessionId: 's' });
    assert.equal(bus.queue.peek(1).length, 1);
  });
});
