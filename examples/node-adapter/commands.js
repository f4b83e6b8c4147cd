import { flag, oneOf, readFields, record, text, textOrNull, whole } from './fields.js';

const MESSAGE_FIELDS = {
  body: text(),
  message_id: textOrNull(),
  session_id: textOrNull(),
  partition_key: textOrNull(),
};

const DONE = { type: 'Done' };

/** What each command carries, and what it does to the bus. One that returns nothing is done. */
const COMMANDS = new Map(Object.entries({
  CreateQueue: {
    fields: {
      queue: text(),
      partitioned: flag(true),
      requires_session: flag(false),
      duplicate_detection: flag(false),
      duplicate_window: whole(600_000_000),
      lock_duration: whole(60_000_000),
      max_delivery_count: whole(10),
    },
    run: (bus, command) => bus.createQueue(settingsOf(command)),
  },
  Send: {
    fields: {
      queue: text(),
      message: record(MESSAGE_FIELDS),
      timeout: whole(60_000_000),
      transaction: textOrNull(),
    },
    run: send,
  },
  Receive: {
    fields: {
      queue: text(),
      mode: oneOf(['peek-lock', 'receive-and-delete'], 'peek-lock'),
      session_id: textOrNull(),
    },
    run: receive,
  },
  Complete: {
    fields: { queue: text(), lock_token: text() },
    run: (bus, { queue, lock_token }) => bus.queue(queue).complete(lock_token),
  },
  Abandon: {
    fields: { queue: text(), lock_token: text() },
    run: (bus, { queue, lock_token }) => bus.queue(queue).abandon(lock_token),
  },
  Peek: {
    fields: { queue: text(), count: whole(1), session_id: textOrNull() },
    run: peek,
  },
  AcceptSession: {
    fields: { queue: text(), session_id: text() },
    run: (bus, { queue, session_id }, connection) =>
      bus.queue(queue).acceptSession(session_id, connection),
  },
  CloseSession: {
    fields: { queue: text(), session_id: text() },
    run: (bus, { queue, session_id }, connection) =>
      bus.queue(queue).closeSession(session_id, connection),
  },
  BeginTransaction: {
    fields: { transaction: text() },
    run: (bus, { transaction }) => bus.beginTransaction(transaction),
  },
  CommitTransaction: {
    fields: { transaction: text() },
    run: (bus, { transaction }) => bus.commitTransaction(transaction),
  },
  RollBackTransaction: {
    fields: { transaction: text() },
    run: (bus, { transaction }) => bus.rollBackTransaction(transaction),
  },
  TakePartitionDown: {
    fields: { queue: text(), partition: whole() },
    run: (bus, { queue, partition }) => bus.queue(queue).setUp(partition, false),
  },
  BringPartitionUp: {
    fields: { queue: text(), partition: whole() },
    run: (bus, { queue, partition }) => bus.queue(queue).setUp(partition, true),
  },
  AdvanceClock: {
    fields: { duration: whole() },
    run: (bus, { duration }) => bus.advanceClock(duration),
  },
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
  return command.run(bus, fields, connection) ?? { outcome: DONE };
}

export function unsupported(detail) {
  return { outcome: { type: 'Unsupported', detail } };
}

function settingsOf(command) {
  return {
    name: command.queue,
    partitioned: command.partitioned,
    requiresSession: command.requires_session,
    duplicateDetection: command.duplicate_detection,
    duplicateWindow: command.duplicate_window,
    lockDuration: command.lock_duration,
    maxDeliveryCount: command.max_delivery_count,
  };
}

function send(bus, { queue, message, timeout, transaction }) {
  const sent = {
    body: message.body,
    messageId: message.message_id,
    sessionId: message.session_id,
    partitionKey: message.partition_key,
  };
  const partition = bus.send(queue, sent, timeout, transaction);
  return { outcome: DONE, witness: { partition } };
}

function receive(bus, { queue: name, mode, session_id: sessionId }, connection) {
  const queue = bus.queue(name);
  const message = sessionId === null
    ? queue.receive(mode)
    : queue.receiveFromSession(sessionId, connection, mode);
  if (message === null) return { outcome: { type: 'Empty' } };
  return { outcome: { type: 'Received', message: told(message) } };
}

function peek(bus, { queue: name, count, session_id: sessionId }) {
  const queue = bus.queue(name);
  const messages = sessionId === null ? queue.peek(count) : queue.peekSession(sessionId, count);
  return { outcome: { type: 'Peeked', messages: messages.map(told) } };
}

/** A message in the protocol's words; JSON leaves out what is undefined, as a peek's lock. */
function told(message) {
  return {
    body: message.body,
    message_id: message.messageId,
    session_id: message.sessionId,
    partition_key: message.partitionKey,
    sequence_number: message.sequenceNumber,
    delivery_count: message.deliveryCount,
    lock_token: message.lockToken,
    locked_until: message.lockedUntil,
  };
}
