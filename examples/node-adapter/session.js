import { Line } from './line.js';

/** A session's messages and state, and the connection that has both to itself for a while. */
export class Session {
  line = new Line();
  state = null;
  holder = null;
  lockedUntil = 0;
  /** The tokens of the messages handed out under the present session lock. */
  lockTokens = new Set();

  isHeldByAnother(connection) {
    return this.holder !== null && this.holder !== connection;
  }

  get isFreeWithMessages() {
    return this.holder === null && this.line.first !== null;
  }
}
