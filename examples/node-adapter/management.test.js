import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { allPartitions, assertRefused, PARTITIONS, SECOND, TestBus } from './testing.js';

const describeQ = (bus) => bus.namespace.describeQueue('q');
const updateQ = (bus, update) => bus.namespace.updateQueue('q', update);

describe('getting queues', () => {
  it('tells what a queue was created with', () => {
    const bus = new TestBus({ lockDuration: 5 * SECOND, requiresSession: true });
    const { name, partitioned, requiresSession, lockDuration, timeToLive } = describeQ(bus);
    assert.deepEqual(
      [name, partitioned, requiresSession, lockDuration, timeToLive],
      ['q', true, true, 5 * SECOND, null],
    );
  });

  it('counts the messages of all partitions, the locked ones too, and no dead letters', () => {
    const bus = new TestBus();
    bus.sendMany(2 * PARTITIONS);
    bus.receive();
    bus.queue.deadLetter(bus.receive().lockToken, '');
    assert.equal(describeQ(bus).messageCount, 2 * PARTITIONS - 1);
  });

  it('leaves out a partition that is down, and tells so', () => {
    const bus = new TestBus();
    bus.sendMany(PARTITIONS);
    bus.takeDown(0);
    assert.deepEqual([describeQ(bus).messageCount, describeQ(bus).isLimited], [15, true]);
    bus.bringUp(0);
    assert.deepEqual([describeQ(bus).messageCount, describeQ(bus).isLimited], [16, false]);
  });

  it('names every queue once', () => {
    const bus = new TestBus();
    bus.create('other');
    bus.queue.deadLetterQueue.peek(1);
    assert.deepEqual(bus.namespace.queueNames.sort(), ['other', 'q']);
    bus.namespace.deleteQueue('q');
    assert.deepEqual(bus.namespace.queueNames, ['other']);
  });

  it('finds no queue that is not there, nor one of dead letters', () => {
    const { namespace } = new TestBus();
    for (const name of ['other', 'q/$deadletterqueue']) {
      assertRefused('not-found', () => namespace.describeQueue(name));
      assertRefused('not-found', () => namespace.updateQueue(name, {}));
      assertRefused('not-found', () => namespace.deleteQueue(name));
    }
  });
});

describe('updating a queue', () => {
  it('holds for locks, deliveries and sends that begin later', () => {
    const bus = new TestBus();
    bus.sendMany(2, { partitionKey: 'k' });
    const first = bus.receive();
    updateQ(bus, { lockDuration: 5 * SECOND, maxDeliveryCount: null, timeToLive: 10 * SECOND });
    const second = bus.receive();
    assert.deepEqual([first.lockedUntil, second.lockedUntil], [60 * SECOND, 5 * SECOND]);
    bus.send();
    bus.advance(10 * SECOND);
    bus.queue.complete(first.lockToken);
    assert.deepEqual(bus.drain(), ['body 2'], 'it lives as long as it did when it was sent');
    assert.equal(describeQ(bus).maxDeliveryCount, 10);
  });

  it('holds for the locks of dead letters too', () => {
    const bus = new TestBus();
    bus.send();
    bus.queue.deadLetter(bus.receive().lockToken, '');
    updateQ(bus, { lockDuration: 5 * SECOND });
    assert.equal(bus.deadLetters.receive('peek-lock').lockedUntil, 5 * SECOND);
  });

  it('lowers the deliveries of messages that are there', () => {
    const bus = new TestBus();
    bus.send();
    bus.queue.abandon(bus.receive().lockToken);
    updateQ(bus, { maxDeliveryCount: 2 });
    bus.queue.abandon(bus.receive().lockToken);
    assert.deepEqual(bus.drainDeadLetters(), [['body 1', 'MaxDeliveryCountExceeded']]);
  });

  it('refuses as a whole what never changes, and locks that are too long', () => {
    const bus = new TestBus();
    const impossible = [
      { partitioned: false },
      { requiresSession: true },
      { duplicateDetection: true },
      { lockDuration: 300 * SECOND + 1 },
    ];
    for (const update of impossible) {
      assertRefused('invalid-operation', () => updateQ(bus, { maxDeliveryCount: 3, ...update }));
    }
    assert.equal(describeQ(bus).maxDeliveryCount, 10);
    updateQ(bus, { partitioned: true, requiresSession: false, duplicateDetection: false });
  });

  it('reaches every partition, or none while one is down', () => {
    const bus = new TestBus();
    bus.takeDown(0);
    assertRefused('unavailable', () => updateQ(bus, { lockDuration: 5 * SECOND }));
    assert.equal(describeQ(bus).lockDuration, 60 * SECOND);
    bus.bringUp(0);
    updateQ(bus, { lockDuration: 5 * SECOND });
    bus.sendMany(PARTITIONS);
    const ends = allPartitions().map(() => bus.receive().lockedUntil);
    assert.deepEqual(new Set(ends), new Set([5 * SECOND]));
  });
});

describe('deleting a queue', () => {
  it('takes all with it, and leaves a fresh start to another one', () => {
    const bus = new TestBus({ duplicateDetection: true });
    bus.send({ messageId: 'm' });
    const { lockToken } = bus.receive();
    bus.schedule(SECOND);
    bus.namespace.deleteQueue('q');
    assertRefused('not-found', () => bus.send());
    assertRefused('not-found', () => bus.deadLetters);
    bus.create('q', { partitioned: false, duplicateDetection: true });
    bus.advance(SECOND);
    assert.equal(bus.receive(), null);
    assertRefused('lock-lost', () => bus.queue.complete(lockToken));
    bus.send({ messageId: 'm' });
    const again = bus.receive();
    assert.notEqual(again.lockToken, lockToken);
    assertRefused('lock-lost', () => bus.queue.complete(lockToken));
  });

  it('is refused while a partition is down, and leaves everything', () => {
    const bus = new TestBus();
    bus.sendMany(PARTITIONS);
    bus.takeDown(0);
    assertRefused('unavailable', () => bus.namespace.deleteQueue('q'));
    bus.bringUp(0);
    assert.equal(bus.drain().length, PARTITIONS);
    bus.namespace.deleteQueue('q');
  });

  it('makes a transaction fail that sent to it', () => {
    const bus = new TestBus();
    bus.create('other');
    bus.namespace.beginTransaction('t');
    bus.send({ partitionKey: 'k' }, { transaction: 't', queue: 'other' });
    bus.send({ partitionKey: 'k' }, { transaction: 't' });
    bus.namespace.deleteQueue('q');
    assertRefused('not-found', () => bus.namespace.commitTransaction('t'));
    assert.deepEqual(bus.namespace.queue('other').peek(1), []);
  });
});
