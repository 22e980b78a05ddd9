// @ai-sdk/openai with its default, the Responses API. Arguments: the server's URL, its token.
import { createOpenAI } from "@ai-sdk/openai";
import { embedMany, generateObject, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";

const [url, token] = process.argv.slice(2);
const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: token });
const model = openai("gatelink");
const prompt = "How much is there?";
const schema = jsonSchema({
  type: "object",
  properties: { account: { type: "string" } },
  required: ["account"],
  additionalProperties: false,
});
const tools = {
  balance: tool({ description: "The balance.", inputSchema: schema, execute: async () => "12.50" }),
};
const stopWhen = stepCountIs(3);
const maxRetries = 0;

const answered = await generateText({ model, prompt, tools, stopWhen, maxRetries });
const streaming = streamText({ model, prompt, tools, stopWhen, maxRetries });
let streamed = "";
for await (const piece of streaming.textStream) streamed += piece;
const { object } = await generateObject({ model, prompt, schema, maxRetries });
// What was said comes back as itself, not as a reference to what OpenAI would have stored.
const providerOptions = { openai: { store: false } };
const messages = [
  { role: "user", content: prompt },
  ...answered.response.messages,
  { role: "user", content: "Thank you." },
];
const again = await generateText({ model, messages, providerOptions, maxRetries });
let error = "none";
try {
  await generateText({ model: openai("other"), prompt, maxRetries });
} catch (refused) {
  error = refused.statusCode;
}
const stopping = new AbortController();
const long = streamText({
  model,
  prompt: "Hello",
  maxRetries,
  abortSignal: stopping.signal,
  onError: () => {},
});
for await (const piece of long.textStream) {
  if (piece) stopping.abort();
}
const { embeddings } = await embedMany({
  model: openai.textEmbeddingModel("gatelink"),
  values: ["Hello", "you"],
  maxRetries,
});
console.log(
  JSON.stringify({
    answered: answered.text,
    steps: answered.steps.length,
    streamed,
    schema: typeof object.account,
    went_on: typeof again.text,
    error,
    vectors: embeddings.map((vector) => vector.length),
  }),
);
