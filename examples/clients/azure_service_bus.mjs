// Tasks of `busproof client` with @azure/service-bus, Microsoft's client for JavaScript.

import { ServiceBusClient } from "@azure/service-bus";

const parameters = JSON.parse(process.env.BUSPROOF_PARAMETERS);
const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

class Unsupported extends Error {}

function report(event, fields = {}) {
  process.stdout.write(`${JSON.stringify({ event, ...fields })}\n`);
}

function fail(error, fields = {}) {
  report("failed", { error: `${error.code ?? error.name}: ${error.message}`, ...fields });
}

/** A message with the properties that the task names. */
function made(fields) {
  const names = {
    body: "body",
    message_id: "messageId",
    session_id: "sessionId",
    partition_key: "partitionKey",
    subject: "subject",
    correlation_id: "correlationId",
    content_type: "contentType",
    reply_to: "replyTo",
    to: "to",
    reply_to_session_id: "replyToSessionId",
    properties: "applicationProperties",
  };
  const message = {};
  for (const [name, own] of Object.entries(names)) {
    if (name in fields) message[own] = fields[name];
  }
  if ("time_to_live_seconds" in fields) message.timeToLive = fields.time_to_live_seconds * 1000;
  return message;
}

const tasks = {
  async send(client) {
    const sender = client.createSender(parameters.entity);
    const messages = parameters.messages.map(made);
    if (parameters.batch) {
      await sender.sendMessages(messages);
      report("sent", { index: 0 });
      return;
    }
    const sendOne = async (message, index) => {
      try {
        await sender.sendMessages(message);
        report("sent", { index });
      } catch (error) {
        fail(error, { index });
      }
    };
    if (parameters.at_once) {
      await Promise.all(messages.map(sendOne));
      return;
    }
    for (const [index, message] of messages.entries()) {
      if (index > 0) await sleep(parameters.pause_seconds ?? 0);
      await sendOne(message, index);
    }
  },

  async schedule(client) {
    const due = new Date(Date.now() + parameters.after_seconds * 1000);
    const sender = client.createSender(parameters.entity);
    for (const number of await sender.scheduleMessages(parameters.messages.map(made), due)) {
      report("scheduled", { sequence_number: String(number) });
    }
  },

  async receive(client) {
    if ("token_seconds" in parameters) {
      throw new Unsupported("an application makes no tokens for connections without TLS");
    }
    const ends = Date.now() + (parameters.wait_seconds ?? 20) * 1000;
    const mode = parameters.mode === "receive-and-delete" ? "receiveAndDelete" : "peekLock";
    const options = { receiveMode: mode };
    // By default, this client renews the locks of all that it has received.
    if (!parameters.renew) options.maxAutoLockRenewalDurationInMs = 0;
    const receiver = await receiverOf(client, options);
    let done = 0;
    while (done < parameters.count && Date.now() < ends) {
      try {
        const wait = { maxWaitTimeInMs: Math.max(1_000, ends - Date.now()) };
        for (const message of await receiver.receiveMessages(parameters.count - done, wait)) {
          report("received", { message_id: message.messageId });
          await settled(receiver, message, done);
          done += 1;
        }
      } catch (error) {
        // The application goes on, as long as it wants messages.
        fail(error);
        await sleep(0.2);
      }
    }
  },
};

function receiverOf(client, options) {
  if (!("session" in parameters)) return client.createReceiver(parameters.entity, options);
  return parameters.session === null
    ? client.acceptNextSession(parameters.entity, options)
    : client.acceptSession(parameters.entity, parameters.session, options);
}

/** Hold a message for a while, and settle it as the task says. */
async function settled(receiver, message, index) {
  const ways = parameters.settlements;
  if (!ways) return;
  await sleep(parameters.hold_seconds ?? 0);
  const settlement = ways[index % ways.length];
  const settle = {
    complete: () => receiver.completeMessage(message),
    abandon: () => receiver.abandonMessage(message),
    defer: () => receiver.deferMessage(message),
    "dead-letter": () => receiver.deadLetterMessage(message, { deadLetterReason: "why" }),
  };
  try {
    await settle[settlement]();
    report("settled", { message_id: message.messageId, settlement });
  } catch (error) {
    fail(error, { message_id: message.messageId });
  }
}

const task = tasks[process.env.BUSPROOF_TASK];
if (task === undefined) {
  report("unsupported", { reason: `@azure/service-bus has no ${process.env.BUSPROOF_TASK}` });
} else if (process.env.BUSPROOF_TRANSPORT === "websocket") {
  report("unsupported", { reason: "@azure/service-bus speaks WebSockets with TLS alone" });
} else {
  const client = new ServiceBusClient(process.env.BUSPROOF_CONNECTION_STRING);
  try {
    await task(client);
    await client.close();
    report("done");
  } catch (error) {
    if (!(error instanceof Unsupported)) throw error;
    report("unsupported", { reason: error.message });
  }
}
process.exit(0);
