/**
 * Messages that wait to be received, the lowest sequence number first.
 *
 * Nearly all come at the end and leave at the front, and those that come back were near the front.
 * So it is an array whose front moves: only what comes or goes in the midst costs a shift.
 */
export class Line {
  #messages = [];
  #front = 0;

  /** The oldest message, which goes on waiting; null if nobody waits. */
  get first() {
    return this.#messages[this.#front] ?? null;
  }

  /** A fresh message stands at the end, and one that comes back takes its old place. */
  join(message) {
    const place = this.#placeOf(message);
    if (place > 0 && place === this.#front) {
      this.#front -= 1;
      this.#messages[this.#front] = message;
    } else {
      this.#messages.splice(place, 0, message);
    }
  }

  /** Takes out one that waits, from wherever it stands. */
  leave(message) {
    const place = this.#placeOf(message);
    if (place !== this.#front) {
      this.#messages.splice(place, 1);
      return;
    }
    this.#front += 1;
    this.#forgetThePast();
  }

  // By halves; messages that left at the front are not looked at.
  #placeOf({ sequenceNumber }) {
    let low = this.#front;
    let high = this.#messages.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#messages[middle].sequenceNumber < sequenceNumber) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Cutting the array at each message would copy it each time; half of it at once is cheap.
  #forgetThePast() {
    if (this.#front * 2 < this.#messages.length) return;
    this.#messages = this.#messages.slice(this.#front);
    this.#front = 0;
  }
}
