// Messages: sending, receiving, settling and looking at them.
import { integer, listOf, oneOf, record, text, textOr, textOrNull, whole, wholeOrNull } from './fields.js';
import { MESSAGE_FIELDS, renewed, renewedSeveral, sent, told } from './words.js';

const MODE = oneOf(['peek-lock', 'receive-and-delete'], 'peek-lock');
const SETTLEMENTS = {
  complete: 'complete',
  abandon: 'abandon',
  defer: 'defer',
  'dead-letter': 'deadLetter',
};
const LOCK_FIELDS = { queue: text(), lock_token: text() };

export const MESSAGE_COMMANDS = {
  Send: {
    fields: {
      queue: text(),
      message: record(MESSAGE_FIELDS),
      timeout: whole(60_000_000),
      transaction: textOrNull(),
    },
    run: (bus, { queue, message, timeout, transaction }) => {
      const partition = bus.send(queue, sent(message), timeout, transaction);
      return { outcome: { type: 'Done' }, witness: { partition } };
    },
  },
  Schedule: {
    fields: {
      queue: text(),
      message: record(MESSAGE_FIELDS),
      delay: integer(),
      transaction: textOrNull(),
    },
    run: (bus, { queue, message, delay, transaction }) => {
      const sequence_number = bus.schedule(queue, sent(message), delay, transaction);
      return { outcome: { type: 'Scheduled', sequence_number } };
    },
  },
  CancelScheduled: {
    fields: { queue: text(), sequence_number: integer() },
    run: (bus, { queue, sequence_number }) => bus.queue(queue).cancelScheduled(sequence_number),
  },
  Receive: {
    fields: { queue: text(), mode: MODE, session_id: textOrNull() },
    run: receive,
  },
  Complete: {
    fields: LOCK_FIELDS,
    run: (bus, { queue, lock_token }) => bus.queue(queue).complete(lock_token),
  },
  Abandon: {
    fields: LOCK_FIELDS,
    run: (bus, { queue, lock_token }) => bus.queue(queue).abandon(lock_token),
  },
  Defer: {
    fields: LOCK_FIELDS,
    run: (bus, { queue, lock_token }) => bus.queue(queue).defer(lock_token),
  },
  ReceiveDeferred: {
    fields: {
      queue: text(),
      sequence_numbers: listOf(integer()),
      mode: MODE,
      session_id: textOrNull(),
    },
    run: receiveDeferred,
  },
  DeadLetter: {
    fields: { ...LOCK_FIELDS, reason: textOr('') },
    run: (bus, { queue, lock_token, reason }) => bus.queue(queue).deadLetter(lock_token, reason),
  },
  SettleBatch: {
    fields: {
      queue: text(),
      lock_tokens: listOf(text()),
      disposition: oneOf(Object.keys(SETTLEMENTS)),
      reason: textOr(''),
    },
    run: (bus, { queue, lock_tokens, disposition, reason }) => (
      bus.queue(queue).settleBatch(lock_tokens, SETTLEMENTS[disposition], reason)
    ),
  },
  RenewLocks: {
    fields: { queue: text(), lock_tokens: listOf(text()) },
    run: (bus, { queue, lock_tokens }) => (
      renewedSeveral(bus.queue(queue).renewLocks(lock_tokens))
    ),
  },
  DeleteBatch: {
    fields: { queue: text(), count: whole(), age: wholeOrNull() },
    run: (bus, { queue, count, age }) => (
      { outcome: { type: 'Deleted', count: bus.queue(queue).deleteBatch(count, age) } }
    ),
  },
  RenewLock: {
    fields: LOCK_FIELDS,
    run: (bus, { queue, lock_token }) => renewed(bus.queue(queue).renewLock(lock_token)),
  },
  Peek: {
    fields: { queue: text(), count: whole(1), session_id: textOrNull() },
    run: peek,
  },
};

function receive(bus, { queue: name, mode, session_id: sessionId }, connection) {
  const queue = bus.queue(name);
  const message = sessionId === null
    ? queue.receive(mode)
    : queue.receiveFromSession(sessionId, connection, mode);
  if (message === null) return { outcome: { type: 'Empty' } };
  return { outcome: { type: 'Received', message: told(message) } };
}

function receiveDeferred(bus, command, connection) {
  const { mode, session_id: sessionId } = command;
  const queue = bus.queue(command.queue);
  const numbers = [...new Set(command.sequence_numbers)];
  const messages = sessionId === null
    ? queue.receiveDeferred(numbers, mode)
    : queue.receiveDeferredFromSession(sessionId, connection, numbers, mode);
  return { outcome: { type: 'ReceivedSeveral', messages: messages.map(told) } };
}

function peek(bus, { queue: name, count, session_id: sessionId }) {
  const queue = bus.queue(name);
  const messages = sessionId === null ? queue.peek(count) : queue.peekSession(sessionId, count);
  return { outcome: { type: 'Peeked', messages: messages.map(told) } };
}
