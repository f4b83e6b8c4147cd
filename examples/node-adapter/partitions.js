import { invalidOperation, lockLost, messageNotFound, notFound, unavailable } from './refusal.js';
import { partitionForKey } from './partition-key.js';
import { partitionOfNumber } from './store.js';

/** An unkeyed message finds another partition only if its sender waits longer than this (µs). */
const TIME_TO_TRY_ANOTHER_PARTITION = 15_000_000;

/**
 * The partitions of one queue, and which of them a request goes to.
 * Whatever way leads to a partition, it is refused where the partition is down.
 */
export class Partitions {
  #queueName;
  #partitions;
  #nextToSendTo = 0;
  #nextToAsk = 0;
  #areGone = false;

  constructor(queueName, partitions) {
    this.#queueName = queueName;
    this.#partitions = partitions;
  }

  /** The one way to a single store: it must be up, and it catches up with the clock first. */
  reach(number) {
    if (this.#areGone) throw notFound(`queue ${this.#queueName} was deleted`);
    const partition = this.#partitions[number];
    if (!partition.isUp) {
      throw unavailable(`partition ${number} of queue ${this.#queueName} is down`);
    }
    partition.catchUp();
    return partition;
  }

  // A key pins: when its partition is down, no other one may take the message.
  ofKey(key) {
    return this.reach(partitionForKey(key, this.#partitions.length));
  }

  /**
   * The partition for a message without key.
   * The turn passes on even when the send fails, so that trying again meets another partition.
   */
  byTurn(timeout) {
    const chosen = this.#nextToSendTo;
    this.#nextToSendTo = this.#after(chosen);
    if (this.#partitions[chosen].isUp || timeout <= TIME_TO_TRY_ANOTHER_PARTITION) {
      return this.reach(chosen);
    }
    const [other] = this.#upFrom(chosen);
    if (other === undefined) throw this.#allDown();
    this.#nextToSendTo = this.#after(other.number);
    return other;
  }

  /**
   * Asks the partitions that are up for something; each answers with it, or with null.
   * They go round: the one after the last giver is asked first, so none starves.
   */
  firstThatGives(ask) {
    const up = this.#upFrom(this.#nextToAsk);
    if (up.length === 0) throw this.#allDown();
    for (const partition of up) {
      const given = ask(partition);
      if (given === null) continue;
      this.#nextToAsk = this.#after(partition.number);
      return given;
    }
    return null;
  }

  /** A peek takes no turn: nothing is given away. */
  firstWithMessages() {
    const up = this.#upFrom(this.#nextToAsk);
    if (up.length === 0) throw this.#allDown();
    return up.find(({ messageCount }) => messageCount > 0) ?? null;
  }

  /** A lock token tells which partition gave it: the queue need not remember. */
  ofLock(lockToken) {
    const number = Number(/\/(\d+)\/\d+$/.exec(lockToken)?.[1]);
    if (number < this.#partitions.length) return this.reach(number);
    throw lockLost(`queue ${this.#queueName} never gave the lock ${JSON.stringify(lockToken)}`);
  }

  /** The one partition of all these locks, as no request can settle in two; none without locks. */
  ofLocks(lockTokens) {
    const [partition, ...others] = new Set(lockTokens.map((token) => this.ofLock(token)));
    if (others.length === 0) return partition;
    throw invalidOperation('a request for several locks is about messages of one partition');
  }

  /** So does a sequence number. */
  ofNumber(sequenceNumber) {
    const number = partitionOfNumber(sequenceNumber);
    if (this.#partitions[number] !== undefined) return this.reach(number);
    throw messageNotFound(`queue ${this.#queueName} has no message ${sequenceNumber}`);
  }

  /** The one partition that gave out all these numbers, as no request can ask two. */
  ofNumbers(sequenceNumbers) {
    const numbers = new Set(sequenceNumbers.map(partitionOfNumber));
    if (numbers.size === 1) return this.ofNumber(sequenceNumbers[0]);
    throw invalidOperation('a receive by number is about messages of one partition');
  }

  /** Every partition, as long as all are up. */
  all() {
    return this.#partitions.map(({ number }) => this.reach(number));
  }

  /** Those that are up. */
  allUp() {
    return this.#upFrom(0);
  }

  get areAllUp() {
    return this.#partitions.every(({ isUp }) => isUp);
  }

  setUp(number, isUp) {
    if (!(number < this.#partitions.length)) {
      throw notFound(`queue ${this.#queueName} has no partition ${number}`);
    }
    this.#partitions[number].setUp(isUp);
  }

  /** The queue is deleted: a transaction may still know a partition, but no longer reaches it. */
  close() {
    this.#areGone = true;
  }

  /** All partitions that are up, in turn from the given one. */
  #upFrom(first) {
    const inTurn = [...this.#partitions.slice(first), ...this.#partitions.slice(0, first)];
    return inTurn.filter(({ isUp }) => isUp).map(({ number }) => this.reach(number));
  }

  #after(number) {
    return (number + 1) % this.#partitions.length;
  }

  #allDown() {
    return unavailable(`all partitions of queue ${this.#queueName} are down`);
  }
}
