import { Partition } from './partition.js';
import { Queue } from './queue.js';
import { alreadyExists, notFound } from './refusal.js';
import { DEAD_LETTERS, refuseImpossible, settingsOfDeadLetters } from './settings.js';
import { Transaction } from './transaction.js';

/** How long the scheduling of a message tries, as it names no time itself (µs). */
const TIME_TO_SCHEDULE = 60_000_000;

/**
 * A namespace: its queues, its transactions and its clock.
 *
 * A message is `{body, messageId, sessionId, partitionKey, timeToLive}`, with null for what is not
 * set. Whatever the bus does not grant is thrown as a `Refusal`.
 */
export class Namespace {
  #tier;
  #partitions;
  #clock = { now: 0 };
  #queues = new Map();
  #created = 0;
  #transactions = new Map();

  constructor({ tier, partitions }) {
    this.#tier = tier;
    this.#partitions = partitions;
  }

  createQueue(settings) {
    refuseImpossible(settings, this.#tier);
    if (this.#queues.has(settings.name)) {
      throw alreadyExists(`there is a queue ${settings.name} already`);
    }
    this.#created += 1;
    this.#queues.set(settings.name, this.#made({ ...settings, id: this.#created }));
  }

  /** What a queue was created with or updated to, and what it holds. */
  describeQueue(name) {
    return this.#named(name).describe();
  }

  get queueNames() {
    return [...this.#queues.keys()];
  }

  /** @param {object} update settings; null leaves one as it is */
  updateQueue(name, update) {
    this.#named(name).update(update, this.#tier);
  }

  /** With all that it holds: whoever still knows a lock or a transaction finds nothing there. */
  deleteQueue(name) {
    this.#named(name).close();
    this.#queues.delete(name);
  }

  // A queue and the queue of its dead letters, partition by partition.
  #made(settings) {
    const ofDeadLetters = settingsOfDeadLetters(settings);
    const deadLetters = [];
    const partitions = [];
    for (let number = 0; number < (settings.partitioned ? this.#partitions : 1); number += 1) {
      deadLetters.push(new Partition(number, ofDeadLetters, this.#clock, null));
      partitions.push(new Partition(number, settings, this.#clock, deadLetters[number]));
    }
    return new Queue(settings, partitions, new Queue(ofDeadLetters, deadLetters, null));
  }

  /**
   * The queue with this name, or the dead-letter queue with this path.
   * @throws {Refusal} if there is none
   */
  queue(path) {
    if (!path.endsWith(DEAD_LETTERS)) return this.#named(path);
    return this.#named(path.slice(0, -DEAD_LETTERS.length)).deadLetterQueue;
  }

  #named(name) {
    const queue = this.#queues.get(name);
    if (queue === undefined) throw notFound(`there is no queue ${name}`);
    return queue;
  }

  /** Sends at once, or in a transaction if one is named; returns the partition's number. */
  send(queueName, message, timeout, transactionName) {
    const queue = this.queue(queueName);
    if (transactionName === null) return queue.send(message, timeout).number;
    return queue.stage(message, null, this.#transaction(transactionName)).number;
  }

  /** Returns the number that cancels; in a transaction null, as there is none before the commit. */
  schedule(queueName, message, delay, transactionName) {
    const queue = this.queue(queueName);
    const dueAt = this.#clock.now + delay;
    if (transactionName === null) return queue.schedule(message, dueAt, TIME_TO_SCHEDULE);
    queue.stage(message, dueAt, this.#transaction(transactionName));
    return null;
  }

  beginTransaction(name) {
    if (this.#transactions.has(name)) throw alreadyExists(`transaction ${name} has begun already`);
    this.#transactions.set(name, new Transaction());
  }

  /** Ends the transaction either way: one that cannot be committed is rolled back. */
  commitTransaction(name) {
    const transaction = this.#transaction(name);
    this.#transactions.delete(name);
    transaction.commit();
  }

  rollBackTransaction(name) {
    this.#transaction(name);
    this.#transactions.delete(name);
  }

  #transaction(name) {
    const transaction = this.#transactions.get(name);
    if (transaction === undefined) throw notFound(`transaction ${name} is not open`);
    return transaction;
  }

  /** Takes a partition of a queue down, or brings it up, with its dead letters. */
  setUp(queueName, partition, isUp) {
    this.#named(queueName).setUp(partition, isUp);
  }

  advanceClock(duration) {
    this.#clock.now += duration;
  }
}
