/** A sequence number has the partition in its top 16 bits; below them the partition counts. */
const NUMBERS_OF_ONE_PARTITION = 2 ** 48;

/** With more partitions, a JavaScript number would not hold every sequence number exactly. */
export const MOST_PARTITIONS = (Number.MAX_SAFE_INTEGER + 1) / NUMBERS_OF_ONE_PARTITION;

export const ACTIVE = 'active';
export const DEFERRED = 'deferred';
export const SCHEDULED = 'scheduled';

/** The partition that gave a sequence number out. */
export function partitionOfNumber(sequenceNumber) {
  return Math.floor(sequenceNumber / NUMBERS_OF_ONE_PARTITION);
}

/** What one partition keeps, under sequence numbers that it gives out and never gives again. */
export class Store {
  #first;
  #issued = 0;
  /** Everything, locked or not, the lowest number first. */
  #messages = new Map();

  constructor(partition) {
    this.#first = partition * NUMBERS_OF_ONE_PARTITION;
  }

  /**
   * Keeps a message as it was sent, and what becomes of it.
   * @param {object} kept what differs from a message that just came and waits
   */
  add(sent, kept = {}) {
    this.#issued += 1;
    const message = {
      sent,
      sequenceNumber: this.#first + this.#issued,
      state: ACTIVE,
      isLocked: false,
      deliveryCount: 0,
      expiresAt: Infinity,
      ...kept,
    };
    this.#messages.set(message.sequenceNumber, message);
    return message;
  }

  remove(message) {
    this.#messages.delete(message.sequenceNumber);
  }

  /** The message with this number in this state; undefined if there is none. */
  find(sequenceNumber, state) {
    const message = this.#messages.get(sequenceNumber);
    return message?.state === state ? message : undefined;
  }

  get size() {
    return this.#messages.size;
  }

  [Symbol.iterator]() {
    return this.#messages.values();
  }
}
