// npm's @langchain/openai: a tool round trip, a stream, objects by schema and by tool, an error, a cancellation.
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';

const [url, token, json] = process.argv.slice(2);
const given = JSON.parse(json);
const model = (name, more) => new ChatOpenAI({
  model: name, apiKey: token, configuration: { baseURL: url }, maxRetries: 0, ...more,
});
const asked = model('gatelink', { temperature: 0 }).bindTools([given.tool]);
const messages = [new HumanMessage(given.question)];
const called = await asked.invoke(messages);
const [call] = called.tool_calls;
messages.push(called, new ToolMessage({ content: given.result, tool_call_id: call.id }));
const chat = (await asked.invoke(messages)).content;
let stream = '';
for await (const piece of await asked.stream(messages)) stream += piece.content;
const number = { title: 'Number', ...given.schema };
const schema = await model('gatelink', { maxTokens: 40 })
  .withStructuredOutput(number, { method: 'jsonSchema' }).invoke(given.question);
const called_ = await model('gatelink', { maxTokens: 60 })
  .withStructuredOutput(number, { method: 'functionCalling' }).invoke(given.question);
let error = '';
try {
  await model('other').invoke('x');
} catch (refusal) {
  error = refusal.code;
}
const stop = new AbortController();
const long = await model('gatelink', { maxTokens: 1500 }).stream(given.question, { signal: stop.signal });
for await (const _ of long) break;
stop.abort();
console.log(JSON.stringify({
  chat, stream, tool: call.args, schema, forms: { schema: called_ }, error, cancelled: true,
}));
