// npm's openai: a chat, a stream, a tool, a schema, an error, a cancellation.
import OpenAI from 'openai';

const [url, token, json] = process.argv.slice(2);
const given = JSON.parse(json);
const client = new OpenAI({ baseURL: url, apiKey: token, maxRetries: 0 });
const asked = { model: 'gatelink', tools: [given.tool], temperature: 0 };
const messages = [{ role: 'user', content: given.question }];
const called = (await client.chat.completions.create({ messages, ...asked })).choices[0].message;
const [call] = called.tool_calls;
messages.push(called, { role: 'tool', tool_call_id: call.id, content: given.result });
const chat = (await client.chat.completions.create({ messages, ...asked })).choices[0].message.content;
let stream = '';
for await (const chunk of await client.chat.completions.create({ messages, ...asked, stream: true })) {
  stream += chunk.choices[0]?.delta?.content ?? '';
}
const form = { type: 'json_schema', json_schema: { name: 'number', schema: given.schema, strict: true } };
const first = messages.slice(0, 1);
const schema = await client.chat.completions.create({
  model: 'gatelink', messages: first, response_format: form, max_tokens: 40,
});
let error = '';
try {
  await client.chat.completions.create({ model: 'other', messages: first });
} catch (refusal) {
  error = refusal.code;
}
const long = await client.chat.completions.create({ model: 'gatelink', messages: first, stream: true, max_tokens: 1500 });
for await (const _ of long) break;
console.log(JSON.stringify({
  chat, stream, tool: JSON.parse(call.function.arguments), error, cancelled: true,
  schema: JSON.parse(schema.choices[0].message.content),
}));
