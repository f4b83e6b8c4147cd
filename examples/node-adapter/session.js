import { Line } from './line.js';

/** A session's messages, and the connection that has the session to itself for a while. */
export class Session {
  line = new Line();
  holder = null;
  lockedUntil = 0;
  /** The tokens of the messages handed out under the present session lock. */
  lockTokens = new Set();

  isHeldByAnother(connection) {
    return this.holder !== null && this.holder !== connection;
  }
}
