import { Partition } from './partition.js';
import { partitionKeyOf, refuseTwoKeys } from './partition-key.js';
import { Partitions } from './partitions.js';
import { invalidOperation } from './refusal.js';
import { changeSettings } from './settings.js';

/**
 * A queue as its clients see it: it checks a request and finds the partition, which does the work.
 * A regular queue is one with a single store, in which keys select nothing.
 *
 * A request is checked in this order: what it says (`invalid-operation`), whether its partition is
 * up (`unavailable`), and only then what that partition knows (lost locks, numbers of messages).
 */
export class Queue {
  #settings;
  #partitions;
  #deadLetters;

  /**
   * @param {object} settings id, name, partitioned, requiresSession, duplicateDetection,
   *   duplicateWindow, lockDuration, maxDeliveryCount, timeToLive, deadLetterExpired
   * @param {Partition[]} partitions
   * @param {Queue | null} deadLetters its dead-letter queue, which has none itself
   */
  constructor(settings, partitions, deadLetters) {
    this.#settings = settings;
    this.#partitions = new Partitions(settings.name, partitions);
    this.#deadLetters = deadLetters;
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
    const partition = this.#partitionFor(message, timeout);
    partition.store(message);
    return partition;
  }

  /** Stores a message that arrives at a later time; returns its number until then. */
  schedule(message, dueAt, timeout) {
    return this.#partitionFor(message, timeout).schedule(message, dueAt);
  }

  cancelScheduled(sequenceNumber) {
    this.#partitions.ofNumber(sequenceNumber).cancelScheduled(sequenceNumber);
  }

  /**
   * Finds the partition for a message, which the transaction keeps until it commits.
   * @param {number | null} dueAt when it is to arrive, if not with the commit
   */
  stage(message, dueAt, transaction) {
    this.#refuseUnfit(message);
    const key = this.keyOf(message);
    if (this.isPartitioned) transaction.refuseOtherKey(key);
    const partition = this.isPartitioned ? this.#partitions.ofKey(key) : this.#partitions.reach(0);
    transaction.keep({ queue: this, partition, message, dueAt, key });
    return partition;
  }

  /** Stores what a transaction kept. Its partition was found up by `refuseIfDown`. */
  storeStaged({ partition, message, dueAt }) {
    if (dueAt === null) partition.store(message);
    else partition.schedule(message, dueAt);
  }

  refuseIfDown(partition) {
    this.#partitions.reach(partition.number);
  }

  /** The key that selects a partition, or null; in a regular queue there is nothing to select. */
  keyOf(message) {
    if (!this.isPartitioned) return null;
    return partitionKeyOf(message, this.#settings.duplicateDetection);
  }

  #partitionFor(message, timeout) {
    this.#refuseUnfit(message);
    const key = this.keyOf(message);
    return key === null ? this.#partitions.byTurn(timeout) : this.#partitions.ofKey(key);
  }

  #refuseUnfit(message) {
    if (this.#deadLetters === null) throw invalidOperation(`nothing is sent to ${this.name}`);
    if (this.#settings.requiresSession && message.sessionId === null) {
      throw invalidOperation(`queue ${this.name} is session-aware: a SessionId is needed`);
    }
    if (this.isPartitioned) refuseTwoKeys(message);
  }

  // --- receiving ---

  /** The first message that any partition gives, or null. */
  receive(mode) {
    this.#refuseWithoutSession();
    return this.#partitions.firstThatGives((partition) => partition.receive(mode));
  }

  receiveFromSession(sessionId, connection, mode) {
    return this.#ofSession(sessionId).receiveFromSession(sessionId, connection, mode);
  }

  /** The deferred messages with these numbers: all of them, or a refusal. */
  receiveDeferred(sequenceNumbers, mode) {
    this.#refuseWithoutSession();
    const partition = this.#partitions.ofNumbers(sequenceNumbers);
    return partition.receiveDeferred(sequenceNumbers, mode);
  }

  receiveDeferredFromSession(sessionId, connection, sequenceNumbers, mode) {
    const partition = this.#ofSession(sessionId);
    return partition.receiveDeferredFromSession(sessionId, connection, sequenceNumbers, mode);
  }

  /** The oldest messages of the first partition that has any: possibly fewer than asked for. */
  peek(count) {
    return this.#partitions.firstWithMessages()?.peek(count) ?? [];
  }

  /** The oldest messages of one session, whoever holds it. */
  peekSession(sessionId, count) {
    return this.#ofSession(sessionId).peek(count, sessionId);
  }

  #refuseWithoutSession() {
    if (!this.#settings.requiresSession) return;
    throw invalidOperation(`queue ${this.name} is session-aware: receive from a session`);
  }

  // --- settling ---

  complete(lockToken) {
    this.#partitions.ofLock(lockToken).complete(lockToken);
  }

  abandon(lockToken) {
    this.#partitions.ofLock(lockToken).abandon(lockToken);
  }

  defer(lockToken) {
    this.#partitions.ofLock(lockToken).defer(lockToken);
  }

  deadLetter(lockToken, reason) {
    if (this.#deadLetters === null) throw invalidOperation(`${this.name} has no dead letters`);
    this.#partitions.ofLock(lockToken).deadLetter(lockToken, reason);
  }

  /** Settles all of these messages, or none: `settle` names the method for one of them. */
  settleBatch(lockTokens, settle, reason) {
    if (settle === 'deadLetter' && this.#deadLetters === null) {
      throw invalidOperation(`${this.name} has no dead letters`);
    }
    this.#partitions.ofLocks(lockTokens)?.settleBatch(lockTokens, settle, reason);
  }

  /** Renews all of these locks, or none; returns their ends. */
  renewLocks(lockTokens) {
    return this.#partitions.ofLocks(lockTokens)?.renewLocks(lockTokens) ?? [];
  }

  /** Deletes up to `count` messages that wait, the oldest first; returns how many. */
  deleteBatch(count, age) {
    this.#refuseWithoutSession();
    if (this.isPartitioned) throw invalidOperation(`queue ${this.name} is partitioned`);
    return this.#partitions.reach(0).deleteBatch(count, age);
  }

  renewLock(lockToken) {
    return this.#partitions.ofLock(lockToken).renewLock(lockToken);
  }

  /** The queue of its dead letters. What is overdue becomes one first. */
  get deadLetterQueue() {
    this.#partitions.allUp();
    return this.#deadLetters;
  }

  // --- sessions ---

  acceptSession(sessionId, connection) {
    this.#ofSession(sessionId).sessions.accept(sessionId, connection);
  }

  /** The id of a free session that has messages, which is accepted; null if there is none. */
  acceptNextSession(connection) {
    this.#refuseWithoutSessions();
    return this.#partitions.firstThatGives(({ sessions }) => sessions.acceptNext(connection));
  }

  renewSession(sessionId, connection) {
    return this.#ofSession(sessionId).sessions.renew(sessionId, connection);
  }

  closeSession(sessionId, connection) {
    this.#ofSession(sessionId).closeSession(sessionId, connection);
  }

  setSessionState(sessionId, connection, state) {
    this.#ofSession(sessionId).sessions.heldBy(connection, sessionId).state = state;
  }

  getSessionState(sessionId, connection) {
    return this.#ofSession(sessionId).sessions.heldBy(connection, sessionId).state;
  }

  /** A list that leaves some out is none: all partitions have to be up. */
  listSessions() {
    this.#refuseWithoutSessions();
    return this.#partitions.all().flatMap(({ sessionIds }) => sessionIds);
  }

  #refuseWithoutSessions() {
    if (this.#settings.requiresSession) return;
    throw invalidOperation(`queue ${this.name} has no sessions`);
  }

  // A whole session lives where its SessionId, being the key, puts its messages.
  #ofSession(sessionId) {
    this.#refuseWithoutSessions();
    return this.isPartitioned ? this.#partitions.ofKey(sessionId) : this.#partitions.reach(0);
  }

  // --- management and outages ---

  /** Its settings, how many messages are in the partitions that are up, and whether all are. */
  describe() {
    let messageCount = 0;
    for (const partition of this.#partitions.allUp()) messageCount += partition.messageCount;
    return { ...this.#settings, messageCount, isLimited: !this.#partitions.areAllUp };
  }

  /** It acts on all partitions or on none: all have to be up. */
  update(update, tier) {
    this.#partitions.all();
    changeSettings(this.#settings, update, tier);
  }

  /** Nobody reaches a partition of it any more. For this too, all have to be up. */
  close() {
    this.#partitions.all();
    this.#partitions.close();
  }

  /** Dead letters stay in their partition, and share its outages. */
  setUp(number, isUp) {
    this.#partitions.setUp(number, isUp);
    this.#deadLetters?.setUp(number, isUp);
  }
}
