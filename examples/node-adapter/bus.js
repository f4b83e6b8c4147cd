import { Queue } from './queue.js';
import { alreadyExists, invalidOperation, notFound } from './refusal.js';
import { Transaction } from './transaction.js';

const LONGEST_LOCK = 300_000_000;

/**
 * A namespace: its queues, its transactions and its clock.
 *
 * A message is `{body, messageId, sessionId, partitionKey}`, with null for what is not set.
 * Whatever the bus does not grant is thrown as a `Refusal`.
 */
export class Namespace {
  #tier;
  #partitions;
  #clock = { now: 0 };
  #queues = new Map();
  #transactions = new Map();

  constructor({ tier, partitions }) {
    this.#tier = tier;
    this.#partitions = partitions;
  }

  createQueue(settings) {
    if (settings.partitioned && this.#tier === 'premium') {
      throw invalidOperation('the premium tier has no partitioned queues');
    }
    if (settings.lockDuration > LONGEST_LOCK) {
      throw invalidOperation('a lock lasts for 5 minutes at most');
    }
    if (this.#queues.has(settings.name)) {
      throw alreadyExists(`there is a queue ${settings.name} already`);
    }
    this.#queues.set(settings.name, new Queue(settings, this.#partitions, this.#clock));
  }

  /** @throws {Refusal} if there is none of this name */
  queue(name) {
    const queue = this.#queues.get(name);
    if (queue === undefined) throw notFound(`there is no queue ${name}`);
    return queue;
  }

  /** Sends at once, or in a transaction if one is named; returns the partition's number. */
  send(queueName, message, timeout, transactionName) {
    const queue = this.queue(queueName);
    if (transactionName === null) return queue.send(message, timeout).number;
    return queue.stage(message, this.#transaction(transactionName)).number;
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

  advanceClock(duration) {
    this.#clock.now += duration;
  }
}
