/** The MessageIds that one partition took within the duplicate window. */
export class DuplicateHistory {
  #window;
  #clock;
  #takenAt = new Map();

  constructor(window, clock) {
    this.#window = window;
    this.#clock = clock;
  }

  /** True if a message with this id was taken in the window; else the id is remembered from now. */
  isRepeated(messageId) {
    this.#forgetOldIds();
    if (this.#takenAt.has(messageId)) return true;
    this.#takenAt.set(messageId, this.#clock.now);
    return false;
  }

  // A Map keeps the order of insertion, which here is the order of time: the oldest come first.
  // A repeated id does not start its window again: only a message that was taken does.
  #forgetOldIds() {
    for (const [messageId, takenAt] of this.#takenAt) {
      if (this.#clock.now - takenAt < this.#window) return;
      this.#takenAt.delete(messageId);
    }
  }
}
