/** The bus answers with an error, and nothing took effect (a failed commit: see transaction.js). */
export class Refusal extends Error {
  /**
   * @param {string} error one of the protocol's error names
   * @param {string} detail why, for people
   */
  constructor(error, detail) {
    super(detail);
    this.name = 'Refusal';
    this.error = error;
  }
}

export const invalidOperation = (detail) => new Refusal('invalid-operation', detail);
export const unavailable = (detail) => new Refusal('unavailable', detail);
export const notFound = (detail) => new Refusal('not-found', detail);
export const alreadyExists = (detail) => new Refusal('already-exists', detail);
export const lockLost = (detail) => new Refusal('lock-lost', detail);
export const sessionLockLost = (detail) => new Refusal('session-lock-lost', detail);
export const sessionCannotBeLocked = (detail) => new Refusal('session-cannot-be-locked', detail);
export const messageNotFound = (detail) => new Refusal('message-not-found', detail);
