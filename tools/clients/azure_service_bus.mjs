// A round with Microsoft's client of JavaScript: one line for each step, as azure_servicebus.py.

import assert from "node:assert/strict";
import { ServiceBusAdministrationClient, ServiceBusClient } from "@azure/service-bus";

const CONNECTION = process.env.BUSPROOF_CONNECTION;
const WAIT = { maxWaitTimeInMs: 20_000 };

async function taken(receiver, count) {
  const found = [];
  while (found.length < count) {
    const some = await receiver.receiveMessages(count - found.length, WAIT);
    assert.notEqual(some.length, 0, `${found.length} of ${count} messages came`);
    found.push(...some);
  }
  return found;
}

const steps = {
  async sends_and_receives(client) {
    await client.createSender("plain").sendMessages({ body: "x".repeat(200_000) });
    await client.createSender("plain").sendMessages([{ body: "1" }, { body: "2" }]);
    const receiver = client.createReceiver("plain");
    const found = await taken(receiver, 3);
    for (const each of found) await receiver.completeMessage(each);
    assert.deepEqual(found.map((each) => each.body.length), [200_000, 1, 1]);
  },

  async settles(client) {
    await client.createSender("parted").sendMessages({ body: "settled" });
    const receiver = client.createReceiver("parted");
    await receiver.abandonMessage((await taken(receiver, 1))[0]);
    const [message] = await taken(receiver, 1);
    assert.equal(message.deliveryCount, 1);
    await receiver.renewMessageLock(message);
    await receiver.deferMessage(message);
    const [deferred] = await receiver.receiveDeferredMessages(message.sequenceNumber);
    await receiver.deadLetterMessage(deferred, { deadLetterReason: "why" });
    const letters = client.createReceiver("parted", { subQueueType: "deadLetter" });
    const [letter] = await taken(letters, 1);
    assert.equal(letter.deadLetterReason, "why");
    await letters.completeMessage(letter);
  },

  async keeps_sessions(client) {
    const sender = client.createSender("sessions");
    for (const sessionId of ["named", "next"]) await sender.sendMessages({ body: 1, sessionId });
    for (const accept of [
      () => client.acceptSession("sessions", "named"),
      () => client.acceptNextSession("sessions"),
    ]) {
      const session = await accept();
      await session.setSessionState(Buffer.from("state"));
      assert.equal(String(await session.getSessionState()), "state");
      await session.renewSessionLock();
      await session.completeMessage((await taken(session, 1))[0]);
      await session.close();
    }
  },

  async schedules(client) {
    const sender = client.createSender("plain");
    await sender.scheduleMessages({ body: "comes" }, new Date(Date.now() + 2_000));
    const never = await sender.scheduleMessages({ body: "never" }, new Date(Date.now() + 7e6));
    await sender.cancelScheduledMessages(never);
    const receiver = client.createReceiver("plain", { receiveMode: "receiveAndDelete" });
    assert.deepEqual((await receiver.peekMessages(5)).map((each) => each.body), ["comes"]);
    assert.deepEqual((await taken(receiver, 1)).map((each) => each.body), ["comes"]);
  },

  async subscribes(client) {
    await client.createSender("topic").sendMessages({ body: 1, applicationProperties: { size: 4 } });
    const receiver = client.createReceiver("topic", "some");
    await receiver.completeMessage((await taken(receiver, 1))[0]);
  },

  async administers() {
    const endpoint = process.env.BUSPROOF_ADMIN.replace("https", "sb");
    const admin = new ServiceBusAdministrationClient(CONNECTION.replace(/sb:[^;]+/, endpoint));
    await admin.createQueue("made");
    const names = [];
    for await (const queue of admin.listQueues()) names.push(queue.name);
    assert.ok(names.includes("made"));
    assert.equal((await admin.getQueueRuntimeProperties("made")).totalMessageCount, 0);
    await admin.deleteQueue("made");
    await admin.createRule("topic", "all", "made", { sqlExpression: "size = 1" });
    assert.equal((await admin.getRule("topic", "all", "made")).filter.sqlExpression, "size = 1");
    await admin.deleteRule("topic", "all", "made");
  },
};

for (const [name, step] of Object.entries(steps)) {
  const client = new ServiceBusClient(CONNECTION, { retryOptions: { maxRetries: 0 } });
  try {
    await step(client);
    console.log(name, "ok");
  } catch (error) {
    console.log(name, "failed:", String(error).replaceAll("\n", " ").slice(0, 300));
  }
  await client.close();
}
process.exit(0);
