import { Deadlines } from './deadlines.js';
import { DuplicateHistory } from './duplicates.js';
import { Line } from './line.js';
import { Locks } from './locks.js';
import { messageNotFound } from './refusal.js';
import { Sessions } from './sessions.js';
import { ACTIVE, DEFERRED, SCHEDULED, Store } from './store.js';

const DELIVERED_TOO_OFTEN = 'MaxDeliveryCountExceeded';
const EXPIRED = 'TTLExpiredException';

/**
 * One partition of a queue: a broker with its own messaging store.
 *
 * The queue asks only partitions that are up, and lets them catch up with the clock first. A
 * partition that is down does nothing at all: what ended meanwhile is found when it is asked again.
 *
 * A message is in one of four places: it waits in a line, or is locked, or deferred, or scheduled.
 */
export class Partition {
  sessions;
  #isUp = true;
  #upSince = 0;
  #number;
  #queue;
  #clock;
  #deadLetters;
  #duplicates;
  #store;
  #locks;
  /** The messages that belong to no session and wait. */
  #line = new Line();
  #schedule = new Deadlines();
  #lives = new Deadlines();

  /**
   * @param {number} number counted from 0
   * @param {object} queue the queue's settings, and an id that no other queue ever has
   * @param {{now: number}} clock virtual time in microseconds
   * @param {Partition | null} deadLetters the partition of the dead-letter queue; it has none
   */
  constructor(number, queue, clock, deadLetters) {
    this.#number = number;
    this.#queue = queue;
    this.#clock = clock;
    this.#deadLetters = deadLetters;
    this.#duplicates = new DuplicateHistory(queue.duplicateWindow);
    this.#store = new Store(number);
    this.#locks = new Locks(`${queue.id}/${number}`);
    this.sessions = new Sessions(queue, clock);
  }

  get number() {
    return this.#number;
  }

  get isUp() {
    return this.#isUp;
  }

  setUp(isUp) {
    if (isUp === this.#isUp) return;
    if (isUp) this.#upSince = this.#clock.now;
    else this.catchUp();
    this.#isUp = isUp;
  }

  // --- taking messages in ---

  /** Takes a message in, or drops it without a word if it repeats one. */
  store(sent) {
    this.#enqueue(sent, this.#clock.now);
  }

  /** Keeps a message for later; returns the number that it has until then. */
  schedule(sent, dueAt) {
    const message = this.#store.add(sent, { state: SCHEDULED });
    this.#schedule.set(message, dueAt);
    return message.sequenceNumber;
  }

  cancelScheduled(sequenceNumber) {
    const message = this.#find(sequenceNumber, SCHEDULED);
    this.#schedule.delete(message);
    this.#store.remove(message);
  }

  // A message lives from when it is enqueued, which for a scheduled one is when it is due.
  #enqueue(sent, now) {
    if (this.#isDuplicate(sent, now)) return;
    const lifetime = Math.min(sent.timeToLive ?? Infinity, this.#queue.timeToLive ?? Infinity);
    const message = this.#store.add(sent, { expiresAt: now + lifetime, enqueuedAt: now });
    this.#lives.set(message, message.expiresAt);
    this.#lineOf(message).join(message);
  }

  #isDuplicate({ messageId }, now) {
    if (!this.#queue.duplicateDetection || messageId === null) return false;
    return this.#duplicates.isRepeated(messageId, now);
  }

  // A dead letter has no time to live, and its deliveries are counted anew.
  #takeDeadLetter({ sent }, reason) {
    const kept = { enqueuedAt: this.#clock.now };
    this.#line.join(this.#store.add({ ...sent, deadLetterReason: reason }, kept));
  }

  // --- handing messages out ---

  /** The oldest waiting message, removed or locked; null if none waits. */
  receive(mode) {
    return this.#deliverFirst(this.#line, mode, null);
  }

  receiveFromSession(sessionId, connection, mode) {
    const session = this.sessions.heldBy(connection, sessionId);
    return this.#deliverFirst(session.line, mode, session);
  }

  /** All the deferred messages that have these numbers, or none of them. */
  receiveDeferred(sequenceNumbers, mode) {
    const messages = sequenceNumbers.map((number) => this.#findUnlocked(number));
    return messages.map((message) => this.#deliver(message, mode, null));
  }

  receiveDeferredFromSession(sessionId, connection, sequenceNumbers, mode) {
    const session = this.sessions.heldBy(connection, sessionId);
    const messages = sequenceNumbers.map((number) => this.#findUnlocked(number, sessionId));
    return messages.map((message) => this.#deliver(message, mode, session));
  }

  #deliverFirst(line, mode, session) {
    const message = line.first;
    if (message === null) return null;
    line.leave(message);
    return this.#deliver(message, mode, session);
  }

  // A message received in a session is locked for as long as the session is.
  #deliver(message, mode, session) {
    message.deliveryCount += 1;
    if (mode === 'peek-lock') {
      const lockedUntil = session?.lockedUntil ?? this.#endOfLock();
      const lockToken = this.#locks.give(message, session, lockedUntil);
      return { ...received(message), lockToken, lockedUntil };
    }
    this.#remove(message);
    return received(message);
  }

  #endOfLock() {
    return this.#clock.now + this.#queue.lockDuration;
  }

  #findUnlocked(sequenceNumber, sessionId = null) {
    const message = this.#find(sequenceNumber, DEFERRED);
    if (message.isLocked) throw messageNotFound(`message ${sequenceNumber} is locked by another`);
    if (sessionId === null || message.sent.sessionId === sessionId) return message;
    throw messageNotFound(`message ${sequenceNumber} is in another session`);
  }

  #find(sequenceNumber, state) {
    const message = this.#store.find(sequenceNumber, state);
    if (message !== undefined) return message;
    throw messageNotFound(`no message with the number ${sequenceNumber} is ${state}`);
  }

  // --- looking without touching ---

  /** Up to `count` of the oldest messages, wherever they are; nothing changes. */
  peek(count, sessionId = null) {
    const seen = [];
    for (const message of this.#store) {
      if (seen.length >= count) break;
      if (sessionId === null || message.sent.sessionId === sessionId) seen.push(peeked(message));
    }
    return seen;
  }

  get messageCount() {
    return this.#store.size;
  }

  /** The sessions that have messages, which a scheduled one is not yet, or a state. */
  get sessionIds() {
    const ids = new Set(this.sessions.idsWithState);
    for (const { sent, state } of this.#store) if (state !== SCHEDULED) ids.add(sent.sessionId);
    return [...ids];
  }

  // --- settling ---

  /** The message was dealt with: it is gone for good. */
  complete(lockToken) {
    this.#remove(this.#locks.take(lockToken));
  }

  /** The message is given back before its lock ends. */
  abandon(lockToken) {
    this.#giveBack(this.#locks.take(lockToken));
  }

  /** The message is set aside, which is no failed delivery. */
  defer(lockToken) {
    const message = this.#locks.take(lockToken);
    message.deliveryCount -= 1;
    message.state = DEFERRED;
  }

  /** The receiver gives the message up, which is no failed delivery either. */
  deadLetter(lockToken, reason) {
    const message = this.#locks.take(lockToken);
    message.deliveryCount -= 1;
    this.#bury(message, reason);
  }

  /** One lock that is lost keeps all of them from being settled. */
  settleBatch(lockTokens, settle, reason) {
    this.#locks.insistOn(lockTokens);
    for (const lockToken of new Set(lockTokens)) this[settle](lockToken, reason);
  }

  renewLocks(lockTokens) {
    this.#locks.insistOn(lockTokens);
    return lockTokens.map((lockToken) => this.renewLock(lockToken));
  }

  /** Deletes up to `count` messages that wait and came so long ago; returns how many. */
  deleteBatch(count, age) {
    const latest = age === null ? Infinity : this.#clock.now - age;
    const isOld = ({ state, isLocked, enqueuedAt }) => (
      state === ACTIVE && !isLocked && enqueuedAt <= latest
    );
    const found = [...this.#store].filter(isOld).slice(0, count);
    for (const message of found) {
      this.#lineOf(message).leave(message);
      this.#remove(message);
    }
    return found.length;
  }

  /** The lock lasts for a whole lock duration from now; returns until when. */
  renewLock(lockToken) {
    const lockedUntil = this.#endOfLock();
    this.#locks.renew(lockToken, lockedUntil);
    return lockedUntil;
  }

  /** Closing is no failure: what was received and not settled counts as never received. */
  closeSession(sessionId, connection) {
    const session = this.sessions.heldBy(connection, sessionId);
    this.#release(session, 1);
  }

  #release(session, uncounted) {
    this.sessions.release(session);
    for (const lockToken of session.lockTokens) {
      const message = this.#locks.take(lockToken);
      message.deliveryCount -= uncounted;
      this.#giveBack(message);
    }
  }

  // Where a message goes whose delivery has failed. A deferred one stays deferred.
  #giveBack(message) {
    if (message.deliveryCount >= this.#queue.maxDeliveryCount) {
      this.#bury(message, DELIVERED_TOO_OFTEN);
    } else if (message.state === ACTIVE) {
      if (message.expiresAt <= this.#clock.now) this.#expire(message);
      else this.#lineOf(message).join(message);
    }
  }

  #expire(message) {
    if (this.#queue.deadLetterExpired) this.#bury(message, EXPIRED);
    else this.#remove(message);
  }

  #bury(message, reason) {
    this.#remove(message);
    this.#deadLetters.#takeDeadLetter(message, reason);
  }

  #remove(message) {
    this.#store.remove(message);
    this.#lives.delete(message);
  }

  #lineOf({ sent }) {
    return this.#queue.requiresSession ? this.sessions.named(sent.sessionId).line : this.#line;
  }

  // --- time ---

  /** Lets happen what the clock has brought. An end is the first moment after. */
  catchUp() {
    const { now } = this.#clock;
    for (const session of this.sessions.takeOver(now)) this.#release(session, 0);
    for (const message of this.#locks.takeOver(now)) this.#giveBack(message);
    for (const [message, dueAt] of this.#schedule.takeOver(now)) this.#activate(message, dueAt);
    for (const [message] of this.#lives.takeOver(now)) this.#endLifeOf(message);
  }

  // It arrives like one that is sent at this moment, with a new number; in an outage none arrives.
  #activate(message, dueAt) {
    this.#store.remove(message);
    this.#enqueue(message.sent, Math.max(dueAt, this.#upSince));
  }

  // A locked message outlives its time until the lock ends, a deferred one until it is received.
  #endLifeOf(message) {
    if (message.isLocked || message.state === DEFERRED) return;
    this.#lineOf(message).leave(message);
    this.#expire(message);
  }
}

/** What a receiver sees of a stored message. */
function received({ sent, sequenceNumber, deliveryCount }) {
  return { ...sent, sequenceNumber, deliveryCount };
}

function peeked(message) {
  return { ...received(message), state: message.state };
}
