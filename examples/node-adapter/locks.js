import { Deadlines } from './deadlines.js';
import { invalidOperation, lockLost } from './refusal.js';

/** The locks on one partition's messages: each delivery has one of its own, with its own token. */
export class Locks {
  #prefix;
  #given = 0;
  #locks = new Map();
  #ends = new Deadlines();

  /** @param {string} prefix what all tokens begin with; no other partition's do */
  constructor(prefix) {
    this.#prefix = prefix;
  }

  /**
   * Locks a message and returns the token.
   * @param {Session | null} session whose lock is that of its messages: it ends only with it
   */
  give(message, session, lockedUntil) {
    this.#given += 1;
    const token = `${this.#prefix}/${this.#given}`;
    this.#locks.set(token, { message, session });
    if (session === null) this.#ends.set(token, lockedUntil);
    else session.lockTokens.add(token);
    message.isLocked = true;
    return token;
  }

  /** Uses a lock up and returns its message. */
  take(token) {
    const { message, session } = this.#lock(token);
    this.#locks.delete(token);
    this.#ends.delete(token);
    session?.lockTokens.delete(token);
    message.isLocked = false;
    return message;
  }

  renew(token, lockedUntil) {
    const { session } = this.#lock(token);
    if (session !== null) throw invalidOperation('it is the lock of the session that is renewed');
    this.#ends.set(token, lockedUntil);
  }

  /** Throws unless all of these locks are held. */
  insistOn(tokens) {
    for (const token of tokens) this.#lock(token);
  }

  /** The messages whose locks have ended, the earliest end first. */
  takeOver(now) {
    return this.#ends.takeOver(now).map(([token]) => this.take(token));
  }

  #lock(token) {
    const lock = this.#locks.get(token);
    if (lock === undefined) throw lockLost(`there is no lock ${JSON.stringify(token)}`);
    return lock;
  }
}
