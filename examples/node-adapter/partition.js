import { DuplicateHistory } from './duplicates.js';
import { Line } from './line.js';
import { lockLost, sessionCannotBeLocked, sessionLockLost } from './refusal.js';
import { Session } from './session.js';

/** A sequence number has the partition in its top 16 bits; below them the partition counts. */
const NUMBERS_OF_ONE_PARTITION = 2 ** 48;

/** With more partitions, a JavaScript number would not hold every sequence number exactly. */
export const MOST_PARTITIONS = (Number.MAX_SAFE_INTEGER + 1) / NUMBERS_OF_ONE_PARTITION;

/**
 * One partition of a queue: a broker with its own messaging store.
 *
 * The queue asks only partitions that are up, and lets the overdue locks lapse first. A partition
 * that is down does nothing at all: what lapsed meanwhile is found when it is asked again.
 */
export class Partition {
  isUp = true;
  #number;
  #queue;
  #clock;
  #duplicates;
  #issued = 0;
  #lastLock = 0;
  /** Everything in the store, locked or not, the oldest first. */
  #messages = new Map();
  /** The messages that belong to no session and wait. */
  #line = new Line();
  #sessions = new Map();
  /** Sessions that somebody holds, the earliest end first: a queue's locks last equally long. */
  #heldSessions = new Set();
  /** Lock token → lock; outside sessions the earliest end first, for the same reason. */
  #locks = new Map();

  /**
   * @param {number} number counted from 0
   * @param {object} queue the queue's settings
   * @param {{now: number}} clock virtual time in microseconds
   */
  constructor(number, queue, clock) {
    this.#number = number;
    this.#queue = queue;
    this.#clock = clock;
    this.#duplicates = new DuplicateHistory(queue.duplicateWindow, clock);
  }

  get number() {
    return this.#number;
  }

  /** Takes a message in, or drops it without a word if it repeats one. */
  store(message) {
    if (this.#isDuplicate(message)) return;
    this.#issued += 1;
    const stored = {
      sent: message,
      number: this.#issued,
      sequenceNumber: this.#number * NUMBERS_OF_ONE_PARTITION + this.#issued,
      deliveryCount: 0,
    };
    this.#messages.set(stored.number, stored);
    this.#lineOf(message).join(stored);
  }

  #isDuplicate({ messageId }) {
    if (!this.#queue.duplicateDetection || messageId === null) return false;
    return this.#duplicates.isRepeated(messageId);
  }

  #lineOf({ sessionId }) {
    return this.#queue.requiresSession ? this.#session(sessionId).line : this.#line;
  }

  #session(sessionId) {
    let session = this.#sessions.get(sessionId);
    if (session === undefined) {
      session = new Session();
      this.#sessions.set(sessionId, session);
    }
    return session;
  }

  /** The oldest waiting message, removed or locked; null if none waits. */
  receive(mode) {
    return this.#deliver(this.#line, mode, null);
  }

  receiveFromSession(sessionId, connection, mode) {
    const session = this.#sessionOf(connection, sessionId);
    return this.#deliver(session.line, mode, session);
  }

  #deliver(line, mode, session) {
    const message = line.next();
    if (message === null) return null;
    message.deliveryCount += 1;
    if (mode === 'peek-lock') return { ...shown(message), ...this.#lock(message, line, session) };
    this.#messages.delete(message.number);
    return shown(message);
  }

  // A message received in a session is locked for as long as the session is.
  #lock(message, line, session) {
    this.#lastLock += 1;
    const lockToken = `${this.#queue.name}/${this.#number}/${this.#lastLock}`;
    const lockedUntil = session?.lockedUntil ?? this.#clock.now + this.#queue.lockDuration;
    this.#locks.set(lockToken, { message, line, session, lockedUntil });
    session?.lockTokens.add(lockToken);
    return { lockToken, lockedUntil };
  }

  /** The message was dealt with: it is gone for good. */
  complete(lockToken) {
    const { message } = this.#unlock(lockToken);
    this.#messages.delete(message.number);
  }

  /** The message is given back before its lock ends. */
  abandon(lockToken) {
    this.#giveBack(this.#unlock(lockToken));
  }

  #unlock(lockToken) {
    const lock = this.#locks.get(lockToken);
    if (lock === undefined) throw lockLost(`there is no lock ${JSON.stringify(lockToken)}`);
    this.#locks.delete(lockToken);
    lock.session?.lockTokens.delete(lockToken);
    return lock;
  }

  // One that failed as often as the queue bears goes to the dead letters, which nobody can read.
  #giveBack({ message, line }) {
    if (message.deliveryCount < this.#queue.maxDeliveryCount) line.rejoin(message);
    else this.#messages.delete(message.number);
  }

  /** Up to `count` of the oldest messages, the locked ones among them; nothing changes. */
  peek(count, sessionId = null) {
    const seen = [];
    for (const message of this.#messages.values()) {
      if (seen.length >= count) break;
      if (sessionId === null || message.sent.sessionId === sessionId) seen.push(shown(message));
    }
    return seen;
  }

  get isEmpty() {
    return this.#messages.size === 0;
  }

  /** Whoever holds the session already starts the lock's time again. */
  acceptSession(sessionId, connection) {
    const session = this.#session(sessionId);
    if (session.isHeldByAnother(connection)) {
      throw sessionCannotBeLocked(`session ${JSON.stringify(sessionId)} is held by another`);
    }
    session.holder = connection;
    session.lockedUntil = this.#clock.now + this.#queue.lockDuration;
    this.#heldSessions.delete(session);
    this.#heldSessions.add(session);
  }

  /** Closing is no failure: what was received and not settled counts as never received. */
  closeSession(sessionId, connection) {
    const session = this.#sessionOf(connection, sessionId);
    for (const lockToken of session.lockTokens) {
      this.#locks.get(lockToken).message.deliveryCount -= 1;
    }
    this.#release(session);
  }

  #sessionOf(connection, sessionId) {
    const session = this.#sessions.get(sessionId);
    if (session?.holder === connection) return session;
    const who = `connection ${JSON.stringify(connection)}`;
    throw sessionLockLost(`${who} does not hold session ${JSON.stringify(sessionId)}`);
  }

  #release(session) {
    session.holder = null;
    this.#heldSessions.delete(session);
    for (const lockToken of session.lockTokens) this.abandon(lockToken);
  }

  /** A lock's end is its first moment without force. */
  lapseLocks() {
    if (this.#queue.requiresSession) this.#lapseSessionLocks();
    else this.#lapseMessageLocks();
  }

  #lapseMessageLocks() {
    for (const [lockToken, { lockedUntil }] of this.#locks) {
      if (lockedUntil > this.#clock.now) return;
      this.abandon(lockToken);
    }
  }

  #lapseSessionLocks() {
    for (const session of this.#heldSessions) {
      if (session.lockedUntil > this.#clock.now) return;
      this.#release(session);
    }
  }
}

/** What a receiver sees of a stored message. */
function shown({ sent, sequenceNumber, deliveryCount }) {
  return { ...sent, sequenceNumber, deliveryCount };
}
