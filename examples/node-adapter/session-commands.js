// Sessions: accepting, keeping and closing them, and their state.
import { text, textOrNull } from './fields.js';
import { renewed } from './words.js';

const SESSION_FIELDS = { queue: text(), session_id: text() };

export const SESSION_COMMANDS = {
  AcceptSession: {
    fields: SESSION_FIELDS,
    run: (bus, { queue, session_id }, connection) =>
      bus.queue(queue).acceptSession(session_id, connection),
  },
  AcceptNextSession: {
    fields: { queue: text() },
    run: acceptNext,
  },
  RenewSessionLock: {
    fields: SESSION_FIELDS,
    run: (bus, { queue, session_id }, connection) =>
      renewed(bus.queue(queue).renewSession(session_id, connection)),
  },
  CloseSession: {
    fields: SESSION_FIELDS,
    run: (bus, { queue, session_id }, connection) =>
      bus.queue(queue).closeSession(session_id, connection),
  },
  SetSessionState: {
    fields: { ...SESSION_FIELDS, state: textOrNull() },
    run: (bus, { queue, session_id, state }, connection) =>
      bus.queue(queue).setSessionState(session_id, connection, state),
  },
  GetSessionState: {
    fields: SESSION_FIELDS,
    run: (bus, { queue, session_id }, connection) => {
      const state = bus.queue(queue).getSessionState(session_id, connection);
      return { outcome: { type: 'SessionState', state } };
    },
  },
  ListSessions: {
    fields: { queue: text() },
    run: (bus, { queue }) => {
      const session_ids = bus.queue(queue).listSessions();
      return { outcome: { type: 'SessionsListed', session_ids } };
    },
  },
};

function acceptNext(bus, { queue }, connection) {
  const session_id = bus.queue(queue).acceptNextSession(connection);
  if (session_id === null) return { outcome: { type: 'Empty' } };
  return { outcome: { type: 'SessionAccepted', session_id } };
}
