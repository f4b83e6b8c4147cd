/**
 * Things that each end at a time: locks, lives of messages, schedules.
 *
 * Nobody waits for an end. Whoever looks at the things asks first what is over by now, and mostly
 * nothing is: so the soonest end is remembered, and all are looked through only once it has come.
 */
export class Deadlines {
  #ends = new Map();
  /** No later than the soonest end there is; what was deleted may leave it too early. */
  #soonest = Infinity;

  /** Lets a thing end at this time, whenever it was to end before; at Infinity it never does. */
  set(thing, end) {
    this.#ends.delete(thing);
    if (end === Infinity) return;
    this.#ends.set(thing, end);
    this.#soonest = Math.min(this.#soonest, end);
  }

  delete(thing) {
    this.#ends.delete(thing);
  }

  /**
   * Takes out what is over, which it is from the very moment of its end.
   * @returns {[object, number][]} things and their ends, the earliest end first
   */
  takeOver(now) {
    if (now < this.#soonest) return [];
    const over = [];
    this.#soonest = Infinity;
    for (const [thing, end] of this.#ends) {
      if (end <= now) over.push([thing, end]);
      else this.#soonest = Math.min(this.#soonest, end);
    }
    for (const [thing] of over) this.#ends.delete(thing);
    return over.sort(([, one], [, other]) => one - other);
  }
}
