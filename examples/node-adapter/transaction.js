import { invalidOperation } from './refusal.js';

/** Sends that take effect together, or not at all. */
export class Transaction {
  #key = null;
  #staged = [];

  /**
   * One broker must handle everything that goes to partitioned queues, so one key must cover it.
   * Equal keys are asked for, not merely keys that happen to select the same partition.
   */
  refuseOtherKey(key) {
    if (key === null) throw invalidOperation('a message in a transaction needs a partition key');
    if (this.#key === null || this.#key === key) return;
    const keys = `${JSON.stringify(this.#key)} and ${JSON.stringify(key)}`;
    throw invalidOperation(`a transaction has one partition key, not ${keys}`);
  }

  /** Only a message that was not refused settles the key; regular queues have none to settle. */
  keep(send) {
    this.#key ??= send.key;
    this.#staged.push(send);
  }

  /** All partitions are asked before anything is stored: nothing becomes visible by halves. */
  commit() {
    for (const { queue, partition } of this.#staged) queue.refuseIfDown(partition);
    for (const send of this.#staged) send.queue.storeStaged(send);
  }
}
