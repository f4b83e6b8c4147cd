// Messages in the words of the protocol and in those of the bus, and some answers about them.
import { textOrNull, text, wholeOrNull } from './fields.js';

export const MESSAGE_FIELDS = {
  body: text(),
  message_id: textOrNull(),
  session_id: textOrNull(),
  partition_key: textOrNull(),
  time_to_live: wholeOrNull(),
};

/** A message as the bus takes it. */
export function sent(message) {
  return {
    body: message.body,
    messageId: message.message_id,
    sessionId: message.session_id,
    partitionKey: message.partition_key,
    timeToLive: message.time_to_live,
  };
}

/** A message as a receiver is told it; JSON leaves out what is undefined, as a peek's lock. */
export function told(message) {
  return {
    body: message.body,
    message_id: message.messageId,
    session_id: message.sessionId,
    partition_key: message.partitionKey,
    time_to_live: message.timeToLive,
    sequence_number: message.sequenceNumber,
    delivery_count: message.deliveryCount,
    lock_token: message.lockToken,
    locked_until: message.lockedUntil,
    state: message.state,
    dead_letter_reason: message.deadLetterReason,
  };
}

export function renewedSeveral(ends) {
  return { outcome: { type: 'RenewedSeveral', locked_until: ends } };
}

export function renewed(lockedUntil) {
  return { outcome: { type: 'Renewed', locked_until: lockedUntil } };
}
