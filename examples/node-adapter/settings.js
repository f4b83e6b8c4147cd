import { invalidOperation } from './refusal.js';

const LONGEST_LOCK = 300_000_000;

/** What the path of a dead-letter queue adds to the name of its queue. */
export const DEAD_LETTERS = '/$deadletterqueue';

/** Fixed when a queue is created. */
const NEVER_CHANGED = ['partitioned', 'requiresSession', 'duplicateDetection'];

/** @throws {Refusal} if no queue of this tier can be like this */
export function refuseImpossible({ partitioned, lockDuration }, tier) {
  if (partitioned && tier === 'premium') {
    throw invalidOperation('the premium tier has no partitioned queues');
  }
  if (lockDuration > LONGEST_LOCK) throw invalidOperation('a lock lasts for 5 minutes at most');
}

/**
 * The settings of a queue's dead-letter queue, from which nothing leaves by itself.
 * They inherit the rest: a lock duration that is changed later is theirs too.
 */
export function settingsOfDeadLetters(settings) {
  return Object.assign(Object.create(settings), {
    id: `${settings.id}${DEAD_LETTERS}`,
    name: `${settings.name}${DEAD_LETTERS}`,
    requiresSession: false,
    duplicateDetection: false,
    maxDeliveryCount: Infinity,
  });
}

/**
 * Changes those settings that an update names with another value than null.
 * @throws {Refusal} if one of them never changes; then none does
 */
export function changeSettings(settings, update, tier) {
  const named = Object.entries(update).filter(([, value]) => value !== null);
  const changed = { ...settings, ...Object.fromEntries(named) };
  for (const name of NEVER_CHANGED) {
    if (changed[name] !== settings[name]) throw invalidOperation(`${name} never changes`);
  }
  refuseImpossible(changed, tier);
  Object.assign(settings, changed);
}
