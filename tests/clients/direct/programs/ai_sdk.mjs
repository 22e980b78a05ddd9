// The AI SDK with @ai-sdk/openai-compatible: a tool round trip, a stream, an object, an error.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai';

const [url, token, json] = process.argv.slice(2);
const given = JSON.parse(json);
const gatelink = createOpenAICompatible({
  name: 'gatelink', baseURL: url, apiKey: token, supportsStructuredOutputs: true,
});
const common = { model: gatelink('gatelink'), maxRetries: 0 };
let called = null;
const { description, parameters } = given.tool.function;
const balance = tool({
  description,
  inputSchema: jsonSchema(parameters),
  execute: async (given_) => { called = given_; return given.result; },
});
const trip = await generateText({
  ...common, temperature: 0, prompt: given.question, tools: { balance }, stopWhen: stepCountIs(3),
});
let stream = '';
const text = streamText({ ...common, temperature: 0, prompt: given.question, maxOutputTokens: 16 });
for await (const piece of text.textStream) stream += piece;
const { output } = await generateText({
  ...common, prompt: given.question, maxOutputTokens: 40, output: Output.object({ schema: jsonSchema(given.schema) }),
});
let error = '';
try {
  await generateText({ ...common, model: gatelink('other'), prompt: 'x' });
} catch (refusal) {
  error = refusal.statusCode === 404 ? 'model_not_found' : String(refusal);
}
console.log(JSON.stringify({ chat: trip.text, streamed: stream, tool: called, schema: output, error }));
