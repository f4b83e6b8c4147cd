// Sessions: accepting, keeping and closing them.
import { text } from './fields.js';
import { renewed } from './words.js';

const SESSION_FIELDS = { queue: text(), session_id: text() };

export const SESSION_COMMANDS = {
  AcceptSession: {
    fields: SESSION_FIELDS,
    run: (bus, { queue, session_id }, connection) =>
      bus.queue(queue).acceptSession(session_id, connection),
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
};
