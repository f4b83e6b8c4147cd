// What the tests share: a namespace with short ways to say what is done to it.
import assert from 'node:assert/strict';

import { Namespace } from './bus.js';
import { Refusal } from './refusal.js';

export const SECOND = 1_000_000;
export const PARTITIONS = 16;

/** A namespace with one queue, called `q`. */
export class TestBus {
  #sent = 0;

  constructor(settings = {}, { tier = 'standard', partitions = PARTITIONS } = {}) {
    this.namespace = new Namespace({ tier, partitions });
    this.create('q', settings);
  }

  create(name, settings = {}) {
    this.namespace.createQueue({
      name,
      partitioned: true,
      requiresSession: false,
      duplicateDetection: false,
      duplicateWindow: 600 * SECOND,
      lockDuration: 60 * SECOND,
      maxDeliveryCount: 10,
      timeToLive: null,
      deadLetterExpired: false,
      ...settings,
    });
  }

  get queue() {
    return this.namespace.queue('q');
  }

  /** The queue of `q`'s dead letters. */
  get deadLetters() {
    return this.namespace.queue('q/$deadletterqueue');
  }

  /** Sends a message with the given properties; returns the partition that took it. */
  send(properties = {}, { queue = 'q', timeout = 60 * SECOND, transaction = null } = {}) {
    return this.namespace.send(queue, this.#message(properties), timeout, transaction);
  }

  /** Schedules a message for so long from now; returns the number that cancels it. */
  schedule(delay, properties = {}, transaction = null) {
    return this.namespace.schedule('q', this.#message(properties), delay, transaction);
  }

  #message(properties) {
    this.#sent += 1;
    const unset = { messageId: null, sessionId: null, partitionKey: null, timeToLive: null };
    return { body: `body ${this.#sent}`, ...unset, ...properties };
  }

  sendMany(count, properties) {
    return Array.from({ length: count }, () => this.send(properties));
  }

  receive(mode = 'peek-lock') {
    return this.queue.receive(mode);
  }

  /** Takes everything out; returns the bodies in the order of receipt. */
  drain() {
    return drained(this.queue).map(({ body }) => body);
  }

  /** Takes all dead letters out; returns their bodies and reasons. */
  drainDeadLetters() {
    return drained(this.deadLetters).map(({ body, deadLetterReason }) => [body, deadLetterReason]);
  }

  take() {
    return this.receive('receive-and-delete');
  }

  takeDown(...partitions) {
    for (const partition of partitions) this.namespace.setUp('q', partition, false);
  }

  bringUp(...partitions) {
    for (const partition of partitions) this.namespace.setUp('q', partition, true);
  }

  takeAllDown() {
    this.takeDown(...allPartitions());
  }

  advance(duration) {
    this.namespace.advanceClock(duration);
  }
}

function drained(queue) {
  const take = () => queue.receive('receive-and-delete');
  const messages = [];
  for (let message = take(); message !== null; message = take()) messages.push(message);
  return messages;
}

export function allPartitions() {
  return Array.from({ length: PARTITIONS }, (_, number) => number);
}

/** Two keys that select different partitions, and a third one that shares the first one's. */
export function someKeys(partitionOf) {
  const candidates = Array.from({ length: 200 }, (_, index) => `key ${index}`);
  const [first, ...others] = candidates;
  const other = others.find((key) => partitionOf(key) !== partitionOf(first));
  const neighbour = others.find((key) => partitionOf(key) === partitionOf(first));
  return { first, other, neighbour };
}

export function assertRefused(error, action) {
  assert.throws(action, (thrown) => {
    assert.ok(thrown instanceof Refusal, `not a refusal: ${thrown.stack}`);
    assert.equal(thrown.error, error);
    return true;
  });
}
