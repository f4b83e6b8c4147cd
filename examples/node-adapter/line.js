/**
 * Messages that wait to be received, the lowest number first.
 *
 * Messages leave at the front only, so whatever comes back is older than all that never left.
 * Two lists are therefore enough: those that came back, kept sorted, go before the fresh ones.
 */
export class Line {
  #fresh = [];
  #front = 0;
  #returned = [];

  /** A message that was just stored stands at the end. */
  join(message) {
    this.#fresh.push(message);
  }

  /** A message that was handed out and not settled takes its old place again. */
  rejoin(message) {
    let low = 0;
    let high = this.#returned.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#returned[middle].number < message.number) low = middle + 1;
      else high = middle;
    }
    this.#returned.splice(low, 0, message);
  }

  /** Takes the oldest message out; null if nobody waits. */
  next() {
    if (this.#returned.length > 0) return this.#returned.shift();
    if (this.#front === this.#fresh.length) return null;
    const message = this.#fresh[this.#front];
    this.#front += 1;
    this.#forgetThePast();
    return message;
  }

  // Cutting the array at each message would copy it each time; half of it at once is cheap.
  #forgetThePast() {
    if (this.#front * 2 < this.#fresh.length) return;
    this.#fresh = this.#fresh.slice(this.#front);
    this.#front = 0;
  }
}
