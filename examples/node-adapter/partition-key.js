import { invalidOperation } from './refusal.js';

/**
 * The value that pins a message to a partition, or null where nothing does.
 * A property counts as set when it is a string, the empty one included: the sender gave it.
 */
export function partitionKeyOf(message, duplicateDetection) {
  const { sessionId, partitionKey, messageId } = message;
  return sessionId ?? partitionKey ?? (duplicateDetection ? messageId : null) ?? null;
}

/** A message cannot be pinned by two different values. */
export function refuseTwoKeys({ sessionId, partitionKey }) {
  if (sessionId === null || partitionKey === null || sessionId === partitionKey) return;
  const [session, key] = [sessionId, partitionKey].map((value) => JSON.stringify(value));
  throw invalidOperation(`SessionId ${session} and PartitionKey ${key} differ`);
}

/**
 * The partition that a key selects: equal keys, equal partitions.
 * FNV-1a mixes high bits only upwards, so they are folded down before the remainder is taken.
 */
export function partitionForKey(key, partitions) {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  }
  return ((hash ^ (hash >>> 16)) >>> 0) % partitions;
}
