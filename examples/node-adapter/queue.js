import { Partition } from './partition.js';
import { partitionForKey, partitionKeyOf, refuseTwoKeys } from './partition-key.js';
import { invalidOperation, lockLost, notFound, unavailable } from './refusal.js';

/** An unkeyed message finds another partition only if its sender waits longer than this (µs). */
const TIME_TO_TRY_ANOTHER_PARTITION = 15_000_000;

/**
 * A queue as its clients see it: it selects partitions, and the partitions do the work.
 * A regular queue is one with a single store, in which keys select nothing.
 *
 * A request is checked in this order: what it says (`invalid-operation`), whether its partition is
 * up (`unavailable`), and only then what that partition knows (lost locks).
 */
export class Queue {
  #settings;
  #partitions;
  #nextToSendTo = 0;
  #nextToAsk = 0;

  /**
   * @param {object} settings name, partitioned, requiresSession, duplicateDetection,
   *   duplicateWindow, lockDuration, maxDeliveryCount
   * @param {number} partitions how many a partitioned queue has
   * @param {{now: number}} clock
   */
  constructor(settings, partitions, clock) {
    this.#settings = settings;
    this.#partitions = Array.from(
      { length: settings.partitioned ? partitions : 1 },
      (_, number) => new Partition(number, settings, clock),
    );
  }

  get name() {
    return this.#settings.name;
  }

  get isPartitioned() {
    return this.#settings.partitioned;
  }

  // --- sending ---

  /** Stores a message and returns the partition that took it. */
  send(message, timeout) {
    this.#refuseUnfit(message);
    const key = this.keyOf(message);
    const partition = key === null ? this.#partitionByTurn(timeout) : this.#partitionOfKey(key);
    partition.store(message);
    return partition;
  }

  /** Finds the partition for a message, which the transaction keeps until it commits. */
  stage(message, transaction) {
    this.#refuseUnfit(message);
    const key = this.keyOf(message);
    if (this.isPartitioned) transaction.refuseOtherKey(key);
    const partition = this.isPartitioned ? this.#partitionOfKey(key) : this.#reach(0);
    transaction.keep({ queue: this, partition, message, key });
    return partition;
  }

  /** Stores what a transaction kept. Its partition was found up by `refuseIfDown`. */
  storeStaged({ partition, message }) {
    partition.store(message);
  }

  refuseIfDown(partition) {
    this.#reach(partition.number);
  }

  /** The key that selects a partition, or null; in a regular queue there is nothing to select. */
  keyOf(message) {
    if (!this.isPartitioned) return null;
    return partitionKeyOf(message, this.#settings.duplicateDetection);
  }

  #refuseUnfit(message) {
    if (this.#settings.requiresSession && message.sessionId === null) {
      throw invalidOperation(`queue ${this.name} is session-aware: a SessionId is needed`);
    }
    if (this.isPartitioned) refuseTwoKeys(message);
  }

  // A key pins: when its partition is down, no other one may take the message.
  #partitionOfKey(key) {
    return this.#reach(partitionForKey(key, this.#partitions.length));
  }

  // The turn passes on even when the send fails, so that trying again meets another partition.
  #partitionByTurn(timeout) {
    const chosen = this.#nextToSendTo;
    this.#nextToSendTo = this.#after(chosen);
    if (this.#partitions[chosen].isUp || timeout <= TIME_TO_TRY_ANOTHER_PARTITION) {
      return this.#reach(chosen);
    }
    const [other] = this.#upFrom(chosen);
    if (other === undefined) throw this.#allDown();
    this.#nextToSendTo = this.#after(other.number);
    return other;
  }

  // --- receiving ---

  /** The first message that any partition gives, or null. */
  receive(mode) {
    if (this.#settings.requiresSession) {
      throw invalidOperation(`queue ${this.name} is session-aware: receive from a session`);
    }
    for (const partition of this.#askedPartitions()) {
      const message = partition.receive(mode);
      if (message === null) continue;
      this.#nextToAsk = this.#after(partition.number);
      return message;
    }
    return null;
  }

  receiveFromSession(sessionId, connection, mode) {
    return this.#partitionOfSession(sessionId).receiveFromSession(sessionId, connection, mode);
  }

  /** The oldest messages of the first partition that has any: possibly fewer than asked for. */
  peek(count) {
    const partition = this.#askedPartitions().find(({ isEmpty }) => !isEmpty);
    return partition === undefined ? [] : partition.peek(count);
  }

  /** The oldest messages of one session, whoever holds it. */
  peekSession(sessionId, count) {
    return this.#partitionOfSession(sessionId).peek(count, sessionId);
  }

  complete(lockToken) {
    this.#partitionOfLock(lockToken).complete(lockToken);
  }

  abandon(lockToken) {
    this.#partitionOfLock(lockToken).abandon(lockToken);
  }

  acceptSession(sessionId, connection) {
    this.#partitionOfSession(sessionId).acceptSession(sessionId, connection);
  }

  closeSession(sessionId, connection) {
    this.#partitionOfSession(sessionId).closeSession(sessionId, connection);
  }

  // Receives go round too: the partition after the last giver is asked first, so none starves.
  #askedPartitions() {
    const up = this.#upFrom(this.#nextToAsk);
    if (up.length === 0) throw this.#allDown();
    return up;
  }

  // A whole session lives where its SessionId, being the key, puts its messages.
  #partitionOfSession(sessionId) {
    if (!this.#settings.requiresSession) {
      throw invalidOperation(`queue ${this.name} has no sessions`);
    }
    return this.isPartitioned ? this.#partitionOfKey(sessionId) : this.#reach(0);
  }

  // A lock token tells which partition gave it: the queue need not remember.
  #partitionOfLock(lockToken) {
    const number = Number(/\/(\d+)\/\d+$/.exec(lockToken)?.[1]);
    if (!(number < this.#partitions.length)) {
      throw lockLost(`queue ${this.name} never gave the lock ${JSON.stringify(lockToken)}`);
    }
    return this.#reach(number);
  }

  // --- outages ---

  setUp(number, isUp) {
    if (!(number < this.#partitions.length)) {
      throw notFound(`queue ${this.name} has no partition ${number}`);
    }
    this.#partitions[number].isUp = isUp;
  }

  /** The one way to a single store: it must be up, and its overdue locks lapse first. */
  #reach(number) {
    const partition = this.#partitions[number];
    if (!partition.isUp) throw unavailable(`partition ${number} of queue ${this.name} is down`);
    partition.lapseLocks();
    return partition;
  }

  /** All partitions that are up, in turn from the given one. */
  #upFrom(first) {
    const inTurn = [...this.#partitions.slice(first), ...this.#partitions.slice(0, first)];
    return inTurn.filter(({ isUp }) => isUp).map(({ number }) => this.#reach(number));
  }

  #after(number) {
    return (number + 1) % this.#partitions.length;
  }

  #allDown() {
    return unavailable(`all partitions of queue ${this.name} are down`);
  }
}
