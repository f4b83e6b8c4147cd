/** The MessageIds that one partition took within the duplicate window. */
export class DuplicateHistory {
  #window;
  #takenAt = new Map();

  constructor(window) {
    this.#window = window;
  }

  /**
   * True if a message with this id was taken in the window; else the id is remembered.
   * @param {number} now the time at which the message comes, no earlier than any before
   */
  isRepeated(messageId, now) {
    this.#forgetOldIds(now);
    if (this.#takenAt.has(messageId)) return true;
    this.#takenAt.set(messageId, now);
    return false;
  }

  // A Map keeps the order of insertion, which here is the order of time: the oldest come first.
  // A repeated id does not start its window again: only a message that was taken does.
  #forgetOldIds(now) {
    for (const [messageId, takenAt] of this.#takenAt) {
      if (now - takenAt < this.#window) return;
      this.#takenAt.delete(messageId);
    }
  }
}
