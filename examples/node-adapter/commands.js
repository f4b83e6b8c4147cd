import { readFields } from './fields.js';
import { MESSAGE_COMMANDS } from './message-commands.js';
import { QUEUE_COMMANDS } from './queue-commands.js';
import { SESSION_COMMANDS } from './session-commands.js';

/** What each command carries, and what it does to the bus. One that returns nothing is done. */
const COMMANDS = new Map(Object.entries({
  ...QUEUE_COMMANDS,
  ...MESSAGE_COMMANDS,
  ...SESSION_COMMANDS,
}));

/**
 * Runs one command of the protocol.
 * @returns {{outcome: object, witness?: object}}
 * @throws {Refusal} if the bus does not grant it
 * @throws {UnknownToUs | Malformed} if it is not in the protocol
 */
export function runCommand(bus, connection, { type, ...given }) {
  const command = COMMANDS.get(type);
  if (command === undefined) return unsupported(`no command is called ${JSON.stringify(type)}`);
  const fields = readFields(command.fields, given, type);
  return command.run(bus, fields, connection) ?? { outcome: { type: 'Done' } };
}

export function unsupported(detail) {
  return { outcome: { type: 'Unsupported', detail } };
}
