// Queues, transactions, outages and time.
import { flag, flagOrNull, text, whole, wholeOrNull } from './fields.js';

export const QUEUE_COMMANDS = {
  CreateQueue: {
    fields: {
      queue: text(),
      partitioned: flagOrNull(true),
      requires_session: flag(false),
      duplicate_detection: flag(false),
      duplicate_window: whole(600_000_000),
      lock_duration: whole(60_000_000),
      max_delivery_count: whole(10),
      time_to_live: wholeOrNull(),
      dead_letter_expired: flag(false),
    },
    run: (bus, command) => bus.createQueue(settingsOf(command)),
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
    run: (bus, { queue, partition }) => bus.setUp(queue, partition, false),
  },
  BringPartitionUp: {
    fields: { queue: text(), partition: whole() },
    run: (bus, { queue, partition }) => bus.setUp(queue, partition, true),
  },
  AdvanceClock: {
    fields: { duration: whole() },
    run: (bus, { duration }) => bus.advanceClock(duration),
  },
};

/** A request that leaves the partitioning out asks for a regular queue. */
function settingsOf(command) {
  return {
    name: command.queue,
    partitioned: command.partitioned ?? false,
    requiresSession: command.requires_session,
    duplicateDetection: command.duplicate_detection,
    duplicateWindow: command.duplicate_window,
    lockDuration: command.lock_duration,
    maxDeliveryCount: command.max_delivery_count,
    timeToLive: command.time_to_live,
    deadLetterExpired: command.dead_letter_expired,
  };
}
