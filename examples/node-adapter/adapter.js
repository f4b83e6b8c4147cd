#!/usr/bin/env node
// The child process that busproof talks with: one request a line in, one answer a line out.
import { Conversation } from './conversation.js';
import { Malformed } from './fields.js';
import { LineCutter } from './lines.js';

async function converse(input, output) {
  const conversation = new Conversation();
  const cutter = new LineCutter();
  for await (const chunk of input) {
    for (const line of cutter.cut(chunk)) {
      output.write(`${JSON.stringify(conversation.answer(parsed(line)))}\n`);
      if (conversation.isOver) return;
    }
  }
  if (cutter.isInsideLine) throw new Malformed('the input ended within a line');
}

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new Malformed(`a line is not JSON: ${error.message}`);
  }
}

// Setting the exit code instead of exiting lets answers that are still on their way arrive.
try {
  await converse(process.stdin, process.stdout);
} catch (error) {
  console.error(error instanceof Malformed ? `node-adapter: ${error.message}` : error);
  process.exitCode = 1;
}
