import { Malformed } from './fields.js';

const NEW_LINE = 0x0a;

/**
 * Cuts a stream of bytes at the line feeds.
 * Node's own readline also cuts at U+2028, which may stand inside a JSON string.
 */
export class LineCutter {
  #decoder = new TextDecoder('utf-8', { fatal: true });
  #begun = [];

  /** @returns {Generator<string>} the lines that this chunk completes */
  *cut(chunk) {
    let from = 0;
    let to = chunk.indexOf(NEW_LINE);
    while (to !== -1) {
      this.#begun.push(chunk.subarray(from, to));
      yield this.#takeLine();
      from = to + 1;
      to = chunk.indexOf(NEW_LINE, from);
    }
    if (from < chunk.length) this.#begun.push(chunk.subarray(from));
  }

  get isInsideLine() {
    return this.#begun.length > 0;
  }

  #takeLine() {
    const bytes = Buffer.concat(this.#begun);
    this.#begun = [];
    try {
      return this.#decoder.decode(bytes);
    } catch {
      throw new Malformed('a line is not UTF-8');
    }
  }
}
