// ollama-js, unchanged. Arguments: the server's URL, its token.
import { Ollama } from "ollama";

const [url, token] = process.argv.slice(2);
const client = new Ollama({ host: url, headers: { Authorization: `Bearer ${token}` } });
const question = { role: "user", content: "How much is there?" };
const schema = {
  type: "object",
  properties: { account: { type: "string" } },
  required: ["account"],
  additionalProperties: false,
};
const tool = {
  type: "function",
  function: { name: "balance", description: "The balance.", parameters: schema },
};

const { models } = await client.list();
const model = models[0].model;
const called = await client.chat({ model, messages: [question], tools: [tool] });
const call = called.message.tool_calls[0];
const messages = [
  question,
  called.message,
  { role: "tool", tool_name: "balance", content: "12.50" },
];
const answered = await client.chat({ model, messages, tools: [tool] });
let streamed = "";
for await (const part of await client.chat({ model, messages, tools: [tool], stream: true })) {
  streamed += part.message.content;
}
const formed = await client.chat({ model, messages: [question], format: schema });
const errors = [];
for (const ask of [
  () => client.chat({ model: "other", messages: [question] }),
  () => client.pull({ model: "other" }),
]) {
  try {
    await ask();
    errors.push(200);
  } catch (refused) {
    errors.push(refused.status_code, typeof refused.error);
  }
}
const many = { type: "array", items: { type: "boolean" }, minItems: 900, maxItems: 999 };
const long = await client.chat({ model, messages: [question], format: many, stream: true });
let aborted = false;
try {
  for await (const part of long) {
    if (part.message.content) long.abort();
  }
} catch (stopped) {
  aborted = stopped.name === "AbortError";
}
const { embeddings } = await client.embed({ model, input: ["Hello", "you"] });
console.log(
  JSON.stringify({
    called: [call.function.name, call.function.arguments],
    answered: answered.message.content,
    streamed,
    schema: JSON.parse(formed.message.content),
    errors,
    aborted,
    version: (await client.version()).version,
    vectors: embeddings.map((vector) => vector.length),
  }),
);
