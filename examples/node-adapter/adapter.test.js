// The child process as busproof meets it: lines in, lines out, an exit code.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const ADAPTER = fileURLToPath(new URL('adapter.js', import.meta.url));
const START = { start: { edition: 'de-2021-04', tier: 'standard', partitions: 16 } };

/** Runs the adapter on some bytes; the input stays open if `open`. */
async function run(input, { open = false } = {}) {
  const child = spawn(process.execPath, [ADAPTER]);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => { stdout += text; });
  child.stderr.setEncoding('utf8').on('data', (text) => { stderr += text; });
  child.stdin.write(input);
  if (!open) child.stdin.end();
  const [code] = await once(child, 'close');
  return { code, stderr, answers: stdout.split('\n').slice(0, -1).map((line) => JSON.parse(line)) };
}

/** Gives each request its id, and a line of its own. */
function lines(...requests) {
  return requests.map((request, id) => `${JSON.stringify({ id, ...request })}\n`).join('');
}

function command(type, fields = {}, connection = 'c1') {
  return { connection, command: { type, ...fields } };
}

/** The outcomes of some commands in a fresh namespace. */
async function outcomes(...commands) {
  const { answers, stderr } = await run(lines(START, ...commands));
  assert.equal(stderr, '');
  return answers.slice(1).map(({ outcome }) => outcome);
}

describe('the conversation', () => {
  it('declares itself, starts, and ends by itself after the bye', async () => {
    const input = lines({ hello: { protocol: 1 } }, START, { bye: {} });
    const { code, answers } = await run(input, { open: true });
    assert.equal(code, 0);
    const [declared, started, bye] = answers;
    assert.equal(declared.hello.protocol, 1);
    assert.equal(declared.hello.clock, 'virtual');
    assert.deepEqual(declared.hello.capabilities, [
      'witness', 'outages', 'transactions', 'sessions', 'duplicate-detection', 'peek', 'peek-lock',
      'regular-queues', 'sequence-numbers', 'lock-renewal', 'settle-batches',
      'renew-locks', 'delete-batch', 'next-session', 'session-state', 'session-listing', 'dead-letter',
      'dead-letter-reasons', 'deferral', 'scheduling',
      'time-to-live', 'management', 'availability',
    ]);
    assert.deepEqual([started, bye], [{ id: 1, started: {} }, { id: 2, bye: {} }]);
  });

  it('ends in peace when the input does', async () => {
    assert.equal((await run('')).code, 0);
    assert.equal((await run(lines(START))).code, 0);
  });

  it('forgets everything at a start', async () => {
    const create = command('CreateQueue', { queue: 'q' });
    const { answers } = await run(lines(START, create, create, START, create));
    const types = answers.map(({ outcome }) => outcome?.type);
    assert.deepEqual(types, [undefined, 'Done', 'Refused', undefined, 'Done']);
  });

  const impossible = {
    'no JSON': 'nonsense\n',
    'an empty line': '\n',
    'no object': '7\n',
    'no id': '{"bye": {}}\n',
    'no known request': lines({ what: {} }),
    'another protocol': lines({ hello: { protocol: 2 } }),
    'a command before the start': lines(command('AdvanceClock', { duration: 1 })),
    'no connection': lines(START, { command: { type: 'AdvanceClock', duration: 1 } }),
    'no command type': lines(START, { connection: 'c1', command: {} }),
    'a missing field': lines(START, command('AdvanceClock')),
    'a field of a wrong type': lines(START, command('CreateQueue', { queue: 7 })),
    'time that runs backwards': lines(START, command('AdvanceClock', { duration: -1 })),
    'a message that is none': lines(START, command('Send', { queue: 'q', message: 'hello' })),
    'more partitions than numbers': lines({ start: { tier: 'standard', partitions: 33 } }),
    'bytes that are not UTF-8': Buffer.from([0x22, 0xff, 0x22, 0x0a]),
    'an unfinished line': '{"id": 1',
  };
  for (const [what, input] of Object.entries(impossible)) {
    it(`gives up on ${what}, and says why`, async () => {
      const { code, stderr } = await run(input);
      assert.equal(code, 1);
      assert.match(stderr, /^node-adapter: .+\n$/);
    });
  }
});

describe('commands', () => {
  it('applies the defaults to fields that are missing or null', async () => {
    const [, , received, empty, again] = await outcomes(
      command('CreateQueue', { queue: 'q', lock_duration: null, requires_session: null }),
      command('Send', { queue: 'q', timeout: null, transaction: null, message: { body: 'b' } }),
      command('Receive', { queue: 'q' }),
      command('Receive', { queue: 'q', mode: null, session_id: null }),
      command('Peek', { queue: 'q' }),
    );
    const stored = {
      body: 'b',
      message_id: null,
      session_id: null,
      partition_key: null,
      time_to_live: null,
      sequence_number: 1,
      delivery_count: 1,
    };
    const { lock_token: token, ...rest } = received.message;
    assert.deepEqual(rest, { ...stored, locked_until: 60_000_000 });
    assert.equal(typeof token, 'string');
    assert.deepEqual(empty, { type: 'Empty' });
    assert.deepEqual(again, { type: 'Peeked', messages: [{ ...stored, state: 'active' }] });
  });

  it('tells the partition of a sent message, and nothing of a refused one', async () => {
    const { answers } = await run(lines(
      START,
      command('CreateQueue', { queue: 'q' }),
      command('Send', { queue: 'q', message: { body: 'b1' } }),
      command('Send', { queue: 'q', message: { body: 'b2' } }),
      command('Send', { queue: 'q', message: { body: 'b', session_id: 'a', partition_key: 'b' } }),
    ));
    assert.deepEqual(answers[2].witness, { partition: 0 });
    assert.deepEqual(answers[3].witness, { partition: 1 });
    assert.equal(answers[4].outcome.error, 'invalid-operation');
    assert.ok(!('witness' in answers[4]));
  });

  it('runs every command there is', async () => {
    const queue = 'q';
    const message = { body: 'b', session_id: 's' };
    const all = await outcomes(
      command('CreateQueue', {
        queue,
        partitioned: true,
        requires_session: true,
        duplicate_detection: true,
        duplicate_window: 20_000_000,
        lock_duration: 5_000_000,
        max_delivery_count: 3,
        time_to_live: 3600_000_000,
        dead_letter_expired: true,
      }),
      command('BeginTransaction', { transaction: 't' }),
      command('Send', { queue, message, transaction: 't' }),
      command('CommitTransaction', { transaction: 't' }),
      command('BeginTransaction', { transaction: 't' }),
      command('RollBackTransaction', { transaction: 't' }),
      command('Schedule', { queue, message, delay: 3600_000_000, transaction: null }),
      command('CancelScheduled', { queue, sequence_number: 1 }),
      command('AcceptSession', { queue, session_id: 's' }),
      command('AcceptSession', { queue, session_id: 's' }, 'c2'),
      command('AcceptNextSession', { queue }),
      command('SetSessionState', { queue, session_id: 's', state: 'half done' }),
      command('GetSessionState', { queue, session_id: 's' }),
      command('ListSessions', { queue }),
      command('Receive', { queue, session_id: 's', mode: 'receive-and-delete' }),
      command('Receive', { queue, session_id: 's' }),
      command('Complete', { queue, lock_token: 'none' }),
      command('Abandon', { queue, lock_token: 'none' }),
      command('Defer', { queue, lock_token: 'none' }),
      command('ReceiveDeferred', { queue, sequence_numbers: [-1], session_id: 's' }),
      command('DeadLetter', { queue, lock_token: 'none' }),
      command('RenewLock', { queue, lock_token: 'none' }),
      command('RenewSessionLock', { queue, session_id: 's' }),
      command('CloseSession', { queue, session_id: 's' }),
      command('Peek', { queue, count: 3 }),
      command('TakePartitionDown', { queue, partition: 15 }),
      command('BringPartitionUp', { queue, partition: 15 }),
      command('GetQueue', { queue }),
      command('ListQueues'),
      command('UpdateQueue', { queue, max_delivery_count: 4 }),
      command('DeleteQueue', { queue }),
      command('AdvanceClock', { duration: 0 }),
    );
    assert.deepEqual(all.map(({ type, error }) => error ?? type), [
      'Done', 'Done', 'Done', 'Done', 'Done', 'Done', 'Scheduled', 'message-not-found', 'Done',
      'session-cannot-be-locked',
      'Empty', 'Done', 'SessionState', 'SessionsListed', 'Received', 'Empty', 'lock-lost',
      'lock-lost', 'lock-lost', 'message-not-found', 'lock-lost', 'lock-lost', 'Renewed', 'Done', 'Peeked',
      'Done', 'Done', 'Described', 'Listed', 'Done', 'Done', 'Done',
    ]);
  });

  it('answers Unsupported to what it does not know', async () => {
    const all = await outcomes(
      command('Ponder', { queue: 'q' }),
      command('constructor'),
      command('CreateQueue', { queue: 'q', forward_to: 'r' }),
      command('Receive', { queue: 'q', mode: 'push' }),
      command('Send', { queue: 'q', message: { body: 'b', label: 'l' } }),
    );
    assert.deepEqual(new Set(all.map(({ type }) => type)), new Set(['Unsupported']));
  });

  it('returns any text unchanged, line separators and half a surrogate pair included', async () => {
    const bodies = ['\u2028\u2029\r\n', 'Grüße 🚌', '\ud83d', '\u0000', ''];
    const commands = bodies.flatMap((body) => [
      command('Send', { queue: 'q', message: { body } }),
      command('Receive', { queue: 'q', mode: 'receive-and-delete' }),
    ]);
    const [, ...all] = await outcomes(command('CreateQueue', { queue: 'q' }), ...commands);
    const returned = all.flatMap(({ message }) => (message ? [message.body] : []));
    assert.deepEqual(returned, bodies);
  });

  it('takes a line that is longer than a pipe holds at once', async () => {
    const body = 'é'.repeat(1_000_000);
    const [, , received] = await outcomes(
      command('CreateQueue', { queue: 'q' }),
      command('Send', { queue: 'q', message: { body } }),
      command('Receive', { queue: 'q' }),
    );
    assert.equal(received.message.body, body);
  });
});
