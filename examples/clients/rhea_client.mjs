// Tasks of `busproof client` with rhea, an AMQP client that knows nothing about Service Bus.
//
// So this file is the client: what a library for Service Bus does by itself is written out here.

import { randomUUID } from "node:crypto";
import rhea from "rhea";

const parameters = JSON.parse(process.env.BUSPROOF_PARAMETERS);
const CONNECTION = process.env.BUSPROOF_CONNECTION_STRING;
const BATCH_FORMAT = 0x80013700;
const BUSY = "com.microsoft:server-busy";
const LOST = "the connection was lost";
const TRANSIENT = new Set([BUSY, "com.microsoft:timeout", "amqp:internal-error", LOST]);
const TRIES = 3;
const PAUSE = 10.5;
const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

function report(event, fields = {}) {
  process.stdout.write(`${JSON.stringify({ event, ...fields })}\n`);
}

/** An error with the condition that the service gave. */
function refused(condition) {
  return Object.assign(new Error(condition), { condition });
}

function connect() {
  const [, host, port] = /sb:\/\/([^:]+):(\d+)/.exec(CONNECTION);
  const [, username] = /SharedAccessKeyName=([^;]+)/.exec(CONNECTION);
  const [, password] = /SharedAccessKey=([^;]+)/.exec(CONNECTION);
  const container = rhea.create_container();
  for (const event of ["connection_error", "receiver_error", "sender_error", "session_error"]) {
    container.on(event, (context) => process.stderr.write(`${event}: ${context.error}\n`));
  }
  return container.connect({ host, port: Number(port), username, password });
}

/** A message as the protocol guide wants it. */
function made(fields, due) {
  const message = { body: fields.body, message_id: fields.message_id ?? randomUUID() };
  const names = {
    session_id: "group_id",
    subject: "subject",
    correlation_id: "correlation_id",
    content_type: "content_type",
    reply_to: "reply_to",
    to: "to",
    reply_to_session_id: "reply_to_group_id",
    properties: "application_properties",
  };
  for (const [name, own] of Object.entries(names)) {
    if (name in fields) message[own] = fields[name];
  }
  if ("time_to_live_seconds" in fields) message.ttl = fields.time_to_live_seconds * 1000;
  const annotations = {};
  if ("partition_key" in fields) annotations["x-opt-partition-key"] = fields.partition_key;
  if (due !== undefined) {
    annotations["x-opt-scheduled-enqueue-time"] = rhea.types.wrap_timestamp(due);
  }
  if (Object.keys(annotations).length > 0) message.message_annotations = annotations;
  return message;
}

class Sender {
  constructor(connection, entity) {
    this.connection = connection;
    this.link = connection.open_sender(entity);
    this.waiting = new Map();
    const settle = (context, error) => {
      const outcome = this.waiting.get(context.delivery);
      this.waiting.delete(context.delivery);
      outcome?.(error);
    };
    this.link.on("accepted", (context) => settle(context));
    this.link.on("rejected", (context) => {
      settle(context, refused(context.delivery.remote_state.error?.condition ?? "rejected"));
    });
    this.link.on("released", (context) => settle(context, refused("released")));
    // What the service asks back is given back; it gives more when it wants more.
    this.link.on("sender_draining", () => this.link.set_drained(true));
    connection.on("disconnected", () => {
      for (const outcome of this.waiting.values()) outcome(refused(LOST));
      this.waiting.clear();
    });
  }

  /** Send once, and wait for the outcome. */
  async transfer(message, format) {
    while (!this.link.sendable()) {
      await Promise.race([new Promise((done) => this.link.once("sendable", done)), sleep(0.1)]);
    }
    await new Promise((resolve, reject) => {
      const delivery = this.link.send(message, undefined, format);
      this.waiting.set(delivery, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Send, and try again what may succeed later. */
  async send(message) {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.transfer(message);
      } catch (error) {
        if (tries === TRIES || !TRANSIENT.has(error.condition)) throw error;
        await sleep(error.condition === BUSY ? PAUSE : 0.2);
      }
    }
  }
}

const tasks = {
  async send(connection) {
    const sender = new Sender(connection, parameters.entity);
    if (parameters.batch) {
      const encoded = parameters.messages.map((fields) => rhea.message.encode(made(fields)));
      const batch = rhea.message.encode({ body: rhea.message.data_sections(encoded) });
      await sender.transfer(batch, BATCH_FORMAT);
      report("sent", { index: 0 });
      return;
    }
    const sendOne = async (fields, index) => {
      try {
        await sender.send(made(fields));
        report("sent", { index });
      } catch (error) {
        report("failed", { index, error: error.message });
      }
    };
    if (parameters.at_once) {
      await Promise.all(parameters.messages.map(sendOne));
      return;
    }
    for (const [index, fields] of parameters.messages.entries()) {
      if (index > 0) await sleep(parameters.pause_seconds ?? 0);
      await sendOne(fields, index);
    }
  },

  async schedule(connection) {
    const sender = new Sender(connection, parameters.entity);
    const due = Date.now() + parameters.after_seconds * 1000;
    for (const fields of parameters.messages) await sender.send(made(fields, due));
  },

  async receive(connection) {
    if ("token_seconds" in parameters) {
      report("unsupported", { reason: "this client logs in by SASL PLAIN, without tokens" });
      return;
    }
    const ends = Date.now() + (parameters.wait_seconds ?? 20) * 1000;
    const deletes = parameters.mode === "receive-and-delete";
    const source = { address: parameters.entity };
    if ("session" in parameters) {
      source.filter = { "com.microsoft:session-filter": parameters.session };
    }
    const options = { source, credit_window: 0, autoaccept: false, autosettle: false };
    options.snd_settle_mode = deletes ? 1 : 0;
    const arrived = [];
    let receiver;
    const attach = () => {
      receiver = connection.open_receiver(options);
      receiver.on("message", (context) => arrived.push(context));
      receiver.on("receiver_close", () => connection.is_open() && attach());
      receiver.on("receiver_open", () => receiver.add_credit(1));
    };
    attach();
    for (let done = 0; done < parameters.count && Date.now() < ends; ) {
      if (arrived.length === 0) {
        await sleep(0.02);
        continue;
      }
      const context = arrived.shift();
      report("received", { message_id: context.message.message_id });
      if (parameters.settlements) await settled(connection, context, done);
      done += 1;
      if (done < parameters.count) receiver.add_credit(1);
    }
  },
};

/** Hold a message for a while, and settle it as the task says. */
async function settled(connection, { delivery, message }, index) {
  const ends = Date.now() + (parameters.hold_seconds ?? 0) * 1000;
  while (Date.now() < ends) {
    await sleep(Math.min(2, (ends - Date.now()) / 1000));
    if (parameters.renew) await renewed(connection, delivery);
  }
  const settlement = parameters.settlements[index % parameters.settlements.length];
  const states = {
    complete: rhea.message.accepted(),
    abandon: rhea.message.modified({ delivery_failed: true }),
    defer: rhea.message.modified({ undeliverable_here: true }),
    "dead-letter": rhea.message.rejected({
      error: { condition: "com.microsoft:dead-letter", info: { DeadLetterReason: "why" } },
    }),
  };
  const answer = new Promise((resolve) => {
    const done = (context) => context.delivery === delivery && resolve(delivery.remote_state);
    delivery.link.on("settled", done);
    setTimeout(resolve, 10_000);
  });
  delivery.update(false, states[settlement].described());
  const state = await answer;
  const error = settlement === "dead-letter" ? undefined : state?.error;
  if (state === undefined || error) {
    report("failed", { message_id: message.message_id, error: error?.condition ?? "no answer" });
  } else {
    report("settled", { message_id: message.message_id, settlement });
  }
}

/** Renew the lock of a message. */
async function renewed(connection, delivery) {
  const node = `${parameters.entity}/$management`;
  const address = randomUUID();
  const bytes = Buffer.from(delivery.tag);
  // The tag has the token with its first three fields in the order of little-endian machines.
  const token = Buffer.concat([
    bytes.subarray(0, 4).reverse(),
    bytes.subarray(4, 6).reverse(),
    bytes.subarray(6, 8).reverse(),
    bytes.subarray(8),
  ]);
  const replies = connection.open_receiver({ source: node, target: { address } });
  const requests = connection.open_sender(node);
  const answer = new Promise((resolve) => replies.once("message", resolve));
  await new Promise((resolve) => requests.once("sendable", resolve));
  requests.send({
    message_id: randomUUID(),
    reply_to: address,
    application_properties: { operation: "com.microsoft:renew-lock" },
    body: { "lock-tokens": rhea.types.wrap_array([token], 0x98) },
  });
  await answer;
  replies.close();
  requests.close();
}

const task = tasks[process.env.BUSPROOF_TASK];
if (task === undefined) {
  report("unsupported", { reason: `rhea has no ${process.env.BUSPROOF_TASK}` });
} else if (process.env.BUSPROOF_TRANSPORT === "websocket") {
  report("unsupported", { reason: "Node.js 20 has no WebSockets without a further package" });
} else {
  const connection = connect();
  await task(connection);
  connection.close();
  report("done");
}
setTimeout(() => process.exit(0), 100);
