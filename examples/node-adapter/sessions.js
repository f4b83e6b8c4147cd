import { Deadlines } from './deadlines.js';
import { sessionCannotBeLocked, sessionLockLost } from './refusal.js';
import { Session } from './session.js';

/** The sessions of one partition, who holds them, and until when. */
export class Sessions {
  #queue;
  #clock;
  /** The one that was accepted last comes last. */
  #sessions = new Map();
  #ends = new Deadlines();

  constructor(queue, clock) {
    this.#queue = queue;
    this.#clock = clock;
  }

  /** The session with this id, which begins to exist when it is first spoken of. */
  named(sessionId) {
    let session = this.#sessions.get(sessionId);
    if (session === undefined) {
      session = new Session();
      this.#sessions.set(sessionId, session);
    }
    return session;
  }

  /** Whoever holds the session already starts the lock's time again. */
  accept(sessionId, connection) {
    const session = this.named(sessionId);
    if (session.isHeldByAnother(connection)) {
      throw sessionCannotBeLocked(`session ${JSON.stringify(sessionId)} is held by another`);
    }
    session.holder = connection;
    this.#startTimeOf(session);
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, session);
  }

  /** Accepts a free session that has messages, the one whose turn is the longest ago, or null. */
  acceptNext(connection) {
    for (const [sessionId, session] of this.#sessions) {
      if (!session.isFreeWithMessages) continue;
      this.accept(sessionId, connection);
      return sessionId;
    }
    return null;
  }

  /** @throws {Refusal} if the session is not held over this connection (any more) */
  heldBy(connection, sessionId) {
    const session = this.#sessions.get(sessionId);
    if (session?.holder === connection) return session;
    const who = `connection ${JSON.stringify(connection)}`;
    throw sessionLockLost(`${who} does not hold session ${JSON.stringify(sessionId)}`);
  }

  /** Starts the time of the holder's lock again; returns when it will end. */
  renew(sessionId, connection) {
    return this.#startTimeOf(this.heldBy(connection, sessionId));
  }

  release(session) {
    session.holder = null;
    this.#ends.delete(session);
  }

  /** The sessions whose locks have ended; they still are to be released. */
  takeOver(now) {
    return this.#ends.takeOver(now).map(([session]) => session);
  }

  get idsWithState() {
    const withState = [...this.#sessions].filter(([, { state }]) => state !== null);
    return withState.map(([sessionId]) => sessionId);
  }

  #startTimeOf(session) {
    session.lockedUntil = this.#clock.now + this.#queue.lockDuration;
    this.#ends.set(session, session.lockedUntil);
    return session.lockedUntil;
  }
}
