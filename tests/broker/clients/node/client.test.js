// The official JavaScript client, unmodified, against a broker that `test_sdk_node.py` starts.
//
// BUSPROOF_CONNECTION is its connection string, BUSPROOF_ADMIN the address of its administration.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ServiceBusClient, isServiceBusError } from "@azure/service-bus";

const ADMIN = process.env.BUSPROOF_ADMIN;
const WAIT = { maxWaitTimeInMs: 240_000 };
const SHORT = { maxWaitTimeInMs: 1_000 };

let client;
before(() => {
  client = new ServiceBusClient(process.env.BUSPROOF_CONNECTION, {
    retryOptions: { maxRetries: 0, timeoutInMs: 240_000 },
  });
});
after(() => client.close());

/** As many messages, in as many receives as that takes. */
async function taken(receiver, count) {
  const found = [];
  while (found.length < count) {
    const some = await receiver.receiveMessages(count - found.length, WAIT);
    assert.notEqual(some.length, 0, `only ${found.length} of ${count} messages came`);
    found.push(...some);
  }
  return found;
}

/** The bodies of all that can be received, which is removed. */
async function emptied(...entity) {
  const receiver = client.createReceiver(...entity, { receiveMode: "receiveAndDelete" });
  const found = [];
  for (;;) {
    const some = await receiver.receiveMessages(50, SHORT);
    if (some.length === 0) break;
    found.push(...some.map((message) => message.body));
  }
  await receiver.close();
  return found;
}

/** What is answered under /busproof/. */
async function ask(path, body) {
  const options = body && { method: "POST", body: JSON.stringify(body) };
  const answer = await fetch(ADMIN + path, options);
  assert.equal(answer.status, 200, path);
  return answer.json();
}

/** Refused with an error of the client's own, which has this code. */
function refused(code) {
  return (error) => isServiceBusError(error) && error.code === code;
}

test("one message, a list and a batch come as they were sent", async () => {
  const sender = client.createSender("parted");
  await sender.sendMessages({ body: { nested: [1, "two"] }, messageId: "m", partitionKey: "k" });
  await sender.sendMessages([{ body: "l1" }, { body: "l2" }]);
  const batch = await sender.createMessageBatch();
  assert.ok(batch.tryAddMessage({ body: "b1", applicationProperties: { a: 1 } }));
  await sender.sendMessages(batch);
  const receiver = client.createReceiver("parted");
  const found = await taken(receiver, 4);
  const one = found.find((message) => message.messageId === "m");
  assert.deepEqual(one.body, { nested: [1, "two"] });
  assert.equal(one.partitionKey, "k");
  assert.deepEqual(new Set(found.map((m) => m.body)), new Set([one.body, "l1", "l2", "b1"]));
  for (const message of found) await receiver.completeMessage(message);
  await receiver.close();
  assert.deepEqual(await emptied("parted"), []);
});

test("some of several messages are received and completed", async () => {
  const sender = client.createSender("plain");
  await sender.sendMessages(["1", "2", "3", "4", "5"].map((body) => ({ body })));
  const receiver = client.createReceiver("plain");
  for (const count of [3, 2]) {
    const found = await receiver.receiveMessages(count, WAIT);
    assert.notEqual(found.length, 0);
    for (const message of found) await receiver.completeMessage(message);
  }
  await receiver.close();
  await emptied("plain");
});

test("every settlement has its effect", async () => {
  const sender = client.createSender("parted");
  for (const body of ["abandon", "dead", "defer"]) {
    await sender.sendMessages({ body, partitionKey: "settled" });
  }
  const receiver = client.createReceiver("parted");
  const [first, dead, aside] = await taken(receiver, 3);
  await receiver.abandonMessage(first, { touched: "yes" });
  await receiver.deadLetterMessage(dead, {
    deadLetterReason: "why",
    deadLetterErrorDescription: "because",
  });
  await receiver.deferMessage(aside);
  const [again] = await taken(receiver, 1);
  assert.equal(again.body, "abandon");
  assert.equal(again.deliveryCount, 1);
  assert.equal(again.applicationProperties.touched, "yes");
  const before = again.lockedUntilUtc;
  assert.ok((await receiver.renewMessageLock(again)) >= before);
  await receiver.completeMessage(again);
  const [deferred] = await receiver.receiveDeferredMessages(aside.sequenceNumber);
  assert.equal(deferred.body, "defer");
  await receiver.completeMessage(deferred);
  await receiver.close();
  const letters = client.createReceiver("parted", { subQueueType: "deadLetter" });
  const [letter] = await taken(letters, 1);
  assert.equal(letter.deadLetterReason, "why");
  assert.equal(letter.deadLetterErrorDescription, "because");
  await letters.completeMessage(letter);
  await letters.close();
  assert.deepEqual(await emptied("parted"), []);
});

test("a peek takes nothing, and what is scheduled can be cancelled", async () => {
  const sender = client.createSender("plain");
  const later = new Date(Date.now() + 3_600_000);
  const numbers = await sender.scheduleMessages([{ body: "later" }, { body: "never" }], later);
  assert.equal(numbers.length, 2);
  await sender.sendMessages({ body: "now", timeToLive: 60_000 });
  const receiver = client.createReceiver("plain", { receiveMode: "receiveAndDelete" });
  const seen = await receiver.peekMessages(5);
  const now = seen.find((message) => message.body === "now");
  assert.equal(now.timeToLive, 60_000);
  assert.equal(now.expiresAtUtc - now.enqueuedTimeUtc, 60_000);
  await sender.cancelScheduledMessages(numbers);
  assert.deepEqual((await taken(receiver, 1)).map((message) => message.body), ["now"]);
  await receiver.close();
  assert.deepEqual(await emptied("plain"), []);
});

test("a session has its state, its order and one holder", async () => {
  const sender = client.createSender("sessions");
  await sender.sendMessages([
    { body: 1, sessionId: "A" },
    { body: 2, sessionId: "A" },
  ]);
  const session = await client.acceptSession("sessions", "A");
  assert.deepEqual((await session.peekMessages(2)).map((message) => message.body), [1, 2]);
  await session.setSessionState(Buffer.from("state"));
  const found = await taken(session, 2);
  assert.deepEqual(found.map((message) => message.body), [1, 2]);
  await assert.rejects(client.acceptSession("sessions", "A"), refused("SessionCannotBeLocked"));
  for (const message of found) await session.completeMessage(message);
  assert.ok((await session.renewSessionLock()) > new Date());
  await session.close();
  await sender.sendMessages({ body: 3, sessionId: "B" });
  const next = await client.acceptNextSession("sessions");
  assert.equal(next.sessionId, "B");
  await next.completeMessage((await taken(next, 1))[0]);
  await next.close();
  const again = await client.acceptSession("sessions", "A");
  assert.equal(String(await again.getSessionState()), "state");
  await again.setSessionState(undefined);
  await again.close();
});

test("rules decide what a subscription takes", async () => {
  const manager = client.createRuleManager("topic", "all");
  await manager.createRule("label", { subject: "wanted", applicationProperties: { n: 1 } });
  await manager.createRule("sql", { sqlExpression: "colour = 'red'" });
  await manager.deleteRule("$Default");
  const rules = [];
  for await (const rule of manager.listRules()) rules.push(rule);
  assert.deepEqual(rules.map((rule) => rule.name).sort(), ["label", "sql"]);
  assert.equal(rules.find((rule) => rule.name === "label").filter.subject, "wanted");
  assert.equal(rules.find((rule) => rule.name === "sql").filter.sqlExpression, "colour = 'red'");
  const sender = client.createSender("topic");
  await sender.sendMessages([
    { body: "1", subject: "wanted", applicationProperties: { n: 1 } },
    { body: "2", applicationProperties: { colour: "blue" } },
    { body: "3", applicationProperties: { colour: "red" } },
  ]);
  assert.deepEqual((await emptied("topic", "all")).sort(), ["1", "3"]);
  await manager.createRule("$Default", { sqlExpression: "1=1" });
  await manager.deleteRule("label");
  await manager.deleteRule("sql");
});

test("filters and actions of frameworks are taken as they write them", async () => {
  const manager = client.createRuleManager("topic", "all");
  const types = "[NServiceBus.EnclosedMessageTypes]";
  const shop = `${types} LIKE '%Shop.OrderPlaced%' OR ${types} = 'x'`;
  await manager.createRule("nservicebus", { sqlExpression: shop });
  await manager.createRule(
    "acts",
    { sqlExpression: "\"MT-MessageType\" = 'urn:message:Shop' AND p('n') > 0.5E-2" },
    { sqlExpression: "SET n = n + 1, SET [n again] = n; REMOVE [MT-MessageType]" },
  );
  await manager.deleteRule("$Default");
  const broken = manager.createRule("broken", { sqlExpression: "x = = 'mail@home'" });
  await assert.rejects(broken, /'=' stands at character 5; expected a value/);
  const sender = client.createSender("topic");
  await sender.sendMessages([
    { body: "1", applicationProperties: { "NServiceBus.EnclosedMessageTypes": "Shop.OrderPlaced, Shop" } },
    { body: "2", applicationProperties: { "NServiceBus.EnclosedMessageTypes": "Shop.Other" } },
    { body: "3", applicationProperties: { "MT-MessageType": "urn:message:Shop", n: 1 } },
  ]);
  const receiver = client.createReceiver("topic", "all", { receiveMode: "receiveAndDelete" });
  const found = await taken(receiver, 2);
  await receiver.close();
  assert.deepEqual(found.map((message) => message.body).sort(), ["1", "3"]);
  const copy = found.find((message) => message.body === "3");
  assert.deepEqual(copy.applicationProperties, { n: 2, "n again": 2, RuleName: "acts" });
  await manager.createRule("$Default", { sqlExpression: "1=1" });
  await manager.deleteRule("nservicebus");
  await manager.deleteRule("acts");
});

test("whoever subscribes is given what comes", async () => {
  const receiver = client.createReceiver("plain");
  const sender = client.createSender("plain");
  const found = [];
  const all = new Promise((resolve, reject) => {
    receiver.subscribe({
      processMessage: async (message) => {
        found.push(message.body);
        if (found.length === 3) resolve();
      },
      processError: async ({ error }) => reject(error),
    });
  });
  for (const body of [1, 2, 3]) await sender.sendMessages({ body });
  await all;
  await receiver.close();
  assert.deepEqual(found, [1, 2, 3]);
});

test("a partition goes down under a key, and comes up again with what it held", async () => {
  const sender = client.createSender("parted");
  await sender.sendMessages({ body: "first", partitionKey: "down" });
  const decisions = await ask("/busproof/decisions");
  const { partition } = decisions.at(-1);
  await ask("/busproof/partitions/down", { entity: "parted", partition });
  const second = sender.sendMessages({ body: "second", partitionKey: "down" });
  await assert.rejects(second, refused("ServiceBusy"));
  await sender.sendMessages({ body: "elsewhere" });
  assert.deepEqual(await emptied("parted"), ["elsewhere"]);
  await ask("/busproof/partitions/up", { entity: "parted", partition });
  assert.deepEqual(await emptied("parted"), ["first"]);
});

test("refusals come as the client's own errors", async () => {
  const large = { body: Buffer.alloc(300_000) };
  const sender = client.createSender("plain");
  await assert.rejects(sender.sendMessages(large), refused("MessageSizeExceeded"));
  await assert.rejects(
    client.createSender("nowhere").sendMessages({ body: 1 }),
    refused("MessagingEntityNotFound"),
  );
  const receiver = client.createReceiver("plain", { receiveMode: "receiveAndDelete" });
  await sender.sendMessages({ body: "numbered" });
  const [{ sequenceNumber }] = await taken(receiver, 1);
  await assert.rejects(receiver.receiveDeferredMessages(sequenceNumber), refused("MessageNotFound"));
  await receiver.close();
});
