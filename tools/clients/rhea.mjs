// A round with rhea, an AMQP client of JavaScript that knows no Service Bus.

import assert from "node:assert/strict";
import rhea from "rhea";

const [, host, port] = /sb:\/\/([^:]+):(\d+)/.exec(process.env.BUSPROOF_CONNECTION);
const [, username] = /SharedAccessKeyName=([^;]+)/.exec(process.env.BUSPROOF_CONNECTION);
const [, password] = /SharedAccessKey=([^;]+)/.exec(process.env.BUSPROOF_CONNECTION);

const bodies = ["x".repeat(200_000), "1", "2"];
const found = [];
const container = rhea.create_container();
const connection = container.connect({ host, port: Number(port), username, password });
connection.open_sender("plain");
connection.open_receiver({ source: "plain", autoaccept: true });
connection.once("sendable", ({ sender }) => bodies.forEach((body) => sender.send({ body })));
const ended = new Promise((resolve, reject) => {
  setTimeout(() => reject(new Error(`${found.length} of 3 messages came`)), 20_000);
  for (const event of ["connection_error", "sender_error", "receiver_error", "rejected"]) {
    connection.on(event, () => reject(new Error(event)));
  }
  connection.on("message", ({ message }) => {
    if (found.push(message.body) === bodies.length) setTimeout(resolve, 200);
  });
});
try {
  await ended;
  assert.deepEqual(found, bodies);
  console.log("sends_and_receives ok");
} catch (error) {
  console.log("sends_and_receives failed:", String(error).slice(0, 300));
}
process.exit(0);
