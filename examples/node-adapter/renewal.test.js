import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { assertRefused, SECOND, TestBus } from './testing.js';

describe('renewing the lock of a message', () => {
  it('lets it last for its whole time again, as often as asked', () => {
    const bus = new TestBus({ lockDuration: 30 * SECOND });
    bus.send();
    const { lockToken } = bus.receive();
    for (const renewedAt of [20, 40, 60]) {
      bus.advance(20 * SECOND);
      assert.equal(bus.queue.renewLock(lockToken), (renewedAt + 30) * SECOND);
    }
    bus.advance(30 * SECOND - 1);
    assert.equal(bus.receive(), null);
    bus.queue.complete(lockToken);
  });

  it('ends it at the renewed time', () => {
    const bus = new TestBus({ lockDuration: 30 * SECOND });
    bus.send();
    const { lockToken } = bus.receive();
    bus.advance(20 * SECOND);
    bus.queue.renewLock(lockToken);
    bus.advance(30 * SECOND);
    assertRefused('lock-lost', () => bus.queue.complete(lockToken));
    assert.equal(bus.receive().deliveryCount, 2);
  });

  it('is about this lock alone', () => {
    const bus = new TestBus({ partitioned: false });
    bus.sendMany(3);
    const [first, second] = [bus.receive(), bus.receive(), bus.receive()];
    bus.advance(40 * SECOND);
    bus.queue.renewLock(second.lockToken);
    bus.advance(20 * SECOND);
    assertRefused('lock-lost', () => bus.queue.complete(first.lockToken));
    assert.deepEqual(bus.drain(), ['body 1', 'body 3']);
    bus.queue.complete(second.lockToken);
  });

  it('is refused once the lock has ended, was used, or never was', () => {
    const bus = new TestBus();
    bus.sendMany(2);
    const [used, ended] = [bus.receive(), bus.receive()];
    bus.queue.complete(used.lockToken);
    bus.advance(60 * SECOND);
    for (const token of [used.lockToken, ended.lockToken, 'nonsense']) {
      assertRefused('lock-lost', () => bus.queue.renewLock(token));
    }
    assert.equal(bus.receive().deliveryCount, 2);
  });

  it('is unavailable in an outage, which does not stop the lock', () => {
    const bus = new TestBus();
    const home = bus.send();
    const { lockToken } = bus.receive();
    bus.takeDown(home);
    assertRefused('unavailable', () => bus.queue.renewLock(lockToken));
    bus.advance(60 * SECOND);
    bus.bringUp(home);
    assertRefused('lock-lost', () => bus.queue.renewLock(lockToken));
  });
});

describe('renewing the lock of a session', () => {
  const heldSession = () => {
    const bus = new TestBus({ requiresSession: true, lockDuration: 30 * SECOND });
    bus.send({ sessionId: 's' });
    bus.queue.acceptSession('s', 'c1');
    return bus;
  };

  it('keeps the session and all its messages', () => {
    const bus = heldSession();
    const { lockToken } = bus.queue.receiveFromSession('s', 'c1', 'peek-lock');
    bus.advance(20 * SECOND);
    assert.equal(bus.queue.renewSession('s', 'c1'), 50 * SECOND);
    bus.advance(30 * SECOND - 1);
    assertRefused('session-cannot-be-locked', () => bus.queue.acceptSession('s', 'c2'));
    bus.queue.complete(lockToken);
    bus.advance(1);
    bus.queue.acceptSession('s', 'c2');
  });

  it('is up to the holder, as long as there is one', () => {
    const bus = heldSession();
    assertRefused('session-lock-lost', () => bus.queue.renewSession('s', 'c2'));
    bus.advance(30 * SECOND);
    assertRefused('session-lock-lost', () => bus.queue.renewSession('s', 'c1'));
    bus.queue.acceptSession('s', 'c2');
  });

  it('is what renews its messages: they have no lock of their own', () => {
    const bus = heldSession();
    const { lockToken } = bus.queue.receiveFromSession('s', 'c1', 'peek-lock');
    assertRefused('invalid-operation', () => bus.queue.renewLock(lockToken));
    bus.queue.complete(lockToken);
  });
});
