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
  GetQueue: {
    fields: { queue: text() },
    run: (bus, { queue }) => {
      const description = described(bus.describeQueue(queue));
      return { outcome: { type: 'Described', description } };
    },
  },
  ListQueues: {
    fields: {},
    run: (bus) => ({ outcome: { type: 'Listed', names: bus.queueNames } }),
  },
  UpdateQueue: {
    fields: {
      queue: text(),
      partitioned: flagOrNull(null),
      requires_session: flagOrNull(null),
      duplicate_detection: flagOrNull(null),
      lock_duration: wholeOrNull(),
      max_delivery_count: wholeOrNull(),
      time_to_live: wholeOrNull(),
    },
    run: (bus, { queue, ...update }) => bus.updateQueue(queue, inWordsOfTheBus(update)),
  },
  DeleteQueue: {
    fields: { queue: text() },
    run: (bus, { queue }) => bus.deleteQueue(queue),
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

/** The settings of a queue as the protocol and as the bus calls them. */
const SETTINGS = {
  partitioned: 'partitioned',
  requires_session: 'requiresSession',
  duplicate_detection: 'duplicateDetection',
  duplicate_window: 'duplicateWindow',
  lock_duration: 'lockDuration',
  max_delivery_count: 'maxDeliveryCount',
  time_to_live: 'timeToLive',
  dead_letter_expired: 'deadLetterExpired',
};

function inWordsOfTheBus(settings) {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [SETTINGS[name], value]),
  );
}

/** A request that leaves the partitioning out asks for a regular queue. */
function settingsOf({ queue, partitioned, ...others }) {
  return { name: queue, partitioned: partitioned ?? false, ...inWordsOfTheBus(others) };
}

function described({ name, messageCount, isLimited, ...settings }) {
  return {
    queue: name,
    partitioned: settings.partitioned,
    requires_session: settings.requiresSession,
    duplicate_detection: settings.duplicateDetection,
    duplicate_window: settings.duplicateWindow,
    lock_duration: settings.lockDuration,
    max_delivery_count: settings.maxDeliveryCount,
    time_to_live: settings.timeToLive,
    message_count: messageCount,
    availability: isLimited ? 'limited' : 'available',
  };
}
