// The official JavaScript client for administration, unmodified; see `test_sdk_node.py`.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ServiceBusAdministrationClient } from "@azure/service-bus";

const admin = new ServiceBusAdministrationClient(process.env.BUSPROOF_CONNECTION);

/** Everything that an iterator has. */
async function all(found) {
  const told = [];
  for await (const each of found) told.push(each);
  return told;
}

test("the namespace is told", async () => {
  assert.equal((await admin.getNamespaceProperties()).name, "sbemulatorns");
});

test("a queue is created, told, changed, listed and deleted", async () => {
  const made = await admin.createQueue("Team/Orders", { maxDeliveryCount: 7 });
  assert.deepEqual([made.name, made.maxDeliveryCount], ["Team/Orders", 7]);
  assert.equal((await admin.getQueueRuntimeProperties("team/orders")).name, "Team/Orders");
  const changed = await admin.updateQueue({ ...made, maxDeliveryCount: 9 });
  assert.equal(changed.maxDeliveryCount, 9);
  const named = (await all(admin.listQueues())).map((queue) => queue.name);
  assert.ok(named.includes("Team/Orders"));
  const counted = (await all(admin.listQueuesRuntimeProperties())).map((queue) => queue.name);
  assert.deepEqual(counted, named);
  await admin.deleteQueue("Team/Orders");
  assert.equal(await admin.queueExists("Team/Orders"), false);
});

test("lists have all pages", async () => {
  for (let number = 0; number < 5; number += 1) await admin.createQueue(`page/${number}`);
  const pages = [];
  for await (const page of admin.listQueues().byPage({ maxPageSize: 2 })) pages.push(page.length);
  const total = (await all(admin.listQueues())).length;
  assert.ok(pages.length > 2 && total >= 5);
  assert.equal(pages.reduce((one, other) => one + other), total);
  for (let number = 0; number < 5; number += 1) await admin.deleteQueue(`page/${number}`);
});

test("authorization rules and parameters are kept, and moments compared", async () => {
  const own = { claimType: "SharedAccessKey", claimValue: "None", accessRights: ["Listen"] };
  const keys = { keyName: "own", primaryKey: "one", secondaryKey: "two" };
  const queue = await admin.createQueue("kept", { authorizationRules: [{ ...own, ...keys }] });
  const [told] = queue.authorizationRules;
  assert.deepEqual([told.keyName, told.primaryKey], ["own", "one"]);
  await admin.createTopic("Keeps");
  const filter = { sqlExpression: "size > @min", sqlParameters: { "@min": 3 } };
  await admin.createSubscription("Keeps", "S", {
    forwardTo: "KEPT",
    forwardDeadLetteredMessagesTo: "kepT",
    defaultRuleOptions: { name: "own", filter },
  });
  assert.deepEqual((await admin.getRule("Keeps", "S", "own")).filter, filter);
  const subscription = await admin.getSubscription("Keeps", "S");
  assert.match(subscription.forwardDeadLetteredMessagesTo, /^sb:\/\/.*\/kept$/);
  await admin.deleteTopic("Keeps");
  await admin.deleteQueue("kept");
});

test("a topic and its subscriptions are", async () => {
  await admin.createTopic("News");
  const topic = await admin.updateTopic({ ...(await admin.getTopic("News")), userMetadata: "m" });
  assert.deepEqual([topic.name, topic.userMetadata], ["News", "m"]);
  await admin.createSubscription("News", "All");
  const made = await admin.createSubscription("News", "Some", {
    deadLetteringOnFilterEvaluationExceptions: false,
    defaultRuleOptions: { name: "own", filter: { sqlExpression: "size = 1" } },
  });
  assert.deepEqual([made.topicName, made.subscriptionName], ["News", "Some"]);
  assert.equal(made.deadLetteringOnFilterEvaluationExceptions, false);
  assert.deepEqual((await all(admin.listRules("News", "Some"))).map((rule) => rule.name), ["own"]);
  const listed = await all(admin.listSubscriptions("News"));
  assert.deepEqual(
    listed.map((each) => [each.topicName, each.subscriptionName]),
    [["News", "All"], ["News", "Some"]],
  );
  assert.equal((await admin.getSubscriptionRuntimeProperties("News", "All")).topicName, "News");
  const changed = await admin.updateSubscription({ ...listed[0], maxDeliveryCount: 3 });
  assert.equal(changed.maxDeliveryCount, 3);
  assert.equal((await admin.getTopicRuntimeProperties("News")).subscriptionCount, 2);
  assert.equal((await all(admin.listTopicsRuntimeProperties())).at(0).name, "News");
  await admin.deleteSubscription("News", "Some");
  assert.equal(await admin.subscriptionExists("News", "Some"), false);
  await admin.deleteTopic("News");
  assert.deepEqual((await all(admin.listTopics())).filter((each) => each.name === "News"), []);
});

test("rules are, with values of each type", async () => {
  await admin.createTopic("Ruled");
  await admin.createSubscription("Ruled", "Sub");
  const filter = { subject: "s", applicationProperties: { number: 1.5, truth: true, text: "t" } };
  const made = await admin.createRule("Ruled", "Sub", "Mine", filter, { sqlExpression: "SET a=1" });
  assert.deepEqual([made.name, made.action.sqlExpression], ["Mine", "SET a=1"]);
  assert.deepEqual(made.filter.applicationProperties, filter.applicationProperties);
  const changed = await admin.updateRule("Ruled", "Sub", { ...made, filter: { sqlExpression: "1=1" } });
  assert.equal(changed.filter.sqlExpression, "1=1");
  const named = (await all(admin.listRules("Ruled", "Sub"))).map((rule) => rule.name);
  assert.deepEqual(named, ["$Default", "Mine"]);
  await admin.deleteRule("Ruled", "Sub", "Mine");
  assert.equal(await admin.ruleExists("Ruled", "Sub", "Mine"), false);
  await admin.deleteTopic("Ruled");
});
