import { Namespace } from './bus.js';
import { runCommand, unsupported } from './commands.js';
import { isRecord, Malformed, UnknownToUs } from './fields.js';
import { MOST_PARTITIONS } from './store.js';
import { Refusal } from './refusal.js';

export const DECLARATION = {
  protocol: 1,
  implementation: { name: 'node-adapter', version: '0.1.0', language: 'JavaScript' },
  capabilities: [
    'witness',
    'outages',
    'transactions',
    'sessions',
    'duplicate-detection',
    'peek',
    'peek-lock',
    'regular-queues',
    'sequence-numbers',
    'lock-renewal',
    'settle-batches',
    'renew-locks',
    'delete-batch',
    'next-session',
    'session-state',
    'session-listing',
    'dead-letter',
    'dead-letter-reasons',
    'deferral',
    'scheduling',
    'time-to-live',
    'management',
    'availability',
  ],
  clock: 'virtual',
  slack: 0,
};

/** One conversation with busproof: requests in, answers out, and a bus that each start renews. */
export class Conversation {
  isOver = false;
  #bus = null;

  /**
   * @param {unknown} request a parsed line
   * @returns {object} the answer
   * @throws {Malformed} if the request is none of the protocol's
   */
  answer(request) {
    if (!isRecord(request)) throw new Malformed('a request is an object');
    const { id } = request;
    if (!Number.isSafeInteger(id)) throw new Malformed('a request has a whole number as its id');
    return { id, ...this.#reply(request) };
  }

  #reply(request) {
    if ('hello' in request) return this.#greet(request.hello);
    if ('start' in request) return this.#start(request.start);
    if ('command' in request) return this.#run(request);
    if ('bye' in request) return this.#end();
    throw new Malformed('a request is one of hello, start, command and bye');
  }

  #greet(hello) {
    if (hello?.protocol !== DECLARATION.protocol) {
      throw new Malformed(`only protocol ${DECLARATION.protocol} is spoken here`);
    }
    return { hello: DECLARATION };
  }

  #start(profile) {
    const partitions = profile?.partitions;
    if (!Number.isSafeInteger(partitions) || partitions < 1 || partitions > MOST_PARTITIONS) {
      throw new Malformed(`partitions is not a whole number from 1 to ${MOST_PARTITIONS}`);
    }
    this.#bus = new Namespace({ tier: profile.tier, partitions });
    return { started: {} };
  }

  #run({ connection, command }) {
    if (this.#bus === null) throw new Malformed('a command came before the first start');
    if (typeof connection !== 'string') throw new Malformed('a command names its connection');
    if (typeof command?.type !== 'string') throw new Malformed('a command has a type');
    try {
      return runCommand(this.#bus, connection, command);
    } catch (error) {
      return outcomeOf(error);
    }
  }

  #end() {
    this.isOver = true;
    return { bye: {} };
  }
}

function outcomeOf(error) {
  if (error instanceof Refusal) {
    return { outcome: { type: 'Refused', error: error.error, detail: error.message } };
  }
  if (error instanceof UnknownToUs) return unsupported(error.message);
  throw error;
}
