// What an application does with the official JavaScript client: queues, sessions and settlements.
"use strict";
const { ServiceBusClient } = require("@azure/service-bus");

async function taken(receiver, count) {
  const found = [];
  while (found.length < count) {
    found.push(...(await receiver.receiveMessages(count - found.length, { maxWaitTimeInMs: 20000 })));
  }
  return found;
}

async function main() {
  const client = new ServiceBusClient(process.env.BUSPROOF_CONNECTION, {
    retryOptions: { maxRetries: 0 },
  });
  const sender = client.createSender("plain");
  await sender.sendMessages([1, 2, 3].map((n) => ({ body: { n }, messageId: `m${n}`, subject: "s" })));
  await sender.sendMessages({ body: "later", messageId: "m4" });
  const numbers = await sender.scheduleMessages({ body: "x" }, new Date(Date.now() + 3600000));
  await sender.cancelScheduledMessages(numbers);
  const receiver = client.createReceiver("plain");
  const [one, two, three, four] = await taken(receiver, 4);
  await receiver.completeMessage(one);
  await receiver.abandonMessage(two);
  await receiver.deadLetterMessage(three, { deadLetterReason: "bad" });
  await receiver.deferMessage(four);
  const [deferred] = await receiver.receiveDeferredMessages([four.sequenceNumber]);
  await receiver.completeMessage(deferred);
  const [again] = await taken(receiver, 1);
  await receiver.renewMessageLock(again);
  await receiver.completeMessage(again);
  await receiver.receiveMessages(2, { maxWaitTimeInMs: 1200 });
  await receiver.close();
  const inSessions = client.createSender("sessions");
  for (const sessionId of ["a", "b", "a"]) {
    await inSessions.sendMessages({ body: "in a session", sessionId });
  }
  const session = await client.acceptSession("sessions", "a");
  await session.setSessionState("state");
  await session.getSessionState();
  for (const message of await taken(session, 2)) {
    await session.completeMessage(message);
  }
  await session.close();
  const next = await client.acceptNextSession("sessions");
  await next.completeMessage((await taken(next, 1))[0]);
  await next.close();
  await client.close();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
