// SillyTavern's forms of text completion: what it would send by default, written by its own function of the
// pinned package, whose surroundings (a page and its settings) are filled in here.
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { OLLAMA_KEYS, OPENAI_KEYS, VLLM_KEYS } from './package/src/constants.js';

const [url, token, json, ollama] = process.argv.slice(2);
const given = JSON.parse(json);
const source = readFileSync('package/public/scripts/textgen-settings.js', 'utf8');
const part = (beginning, end) => {
  const at = source.indexOf(beginning);
  if (at < 0) throw new Error(`${beginning} is not in this version`);
  return source.slice(at, source.indexOf(end, at) + end.length).replace(/^export /, '');
};
const orders = [...source.matchAll(/^(?:export )?const (\w+_ORDER) = \[[^]*?\];/gm)]
  .map(([text]) => text.replace(/^export /, '')).join('\n');
const code = `
${part('export const textgen_types = {', '\n};')}
const { ${part('const {', '} = textgen_types;').slice('const {'.length)}
${orders}
${part('export const textgenerationwebui_settings = {', '\n};')}
const power_user = { request_token_probabilities: probabilities }, max_context = 2048;
const BIAS_CACHE = new Map(), BIAS_KEY = '', textgenModel = () => 'gatelink';
const getTextGenModel = textgenModel, getTextGenServer = () => 'http://127.0.0.1', getLogprobsNumber = () => 10;
const isObject = (value) => value !== null && typeof value === 'object', substituteParams = (text) => text;
const arraysEqual = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const isDynamicTemperatureSupported = (settings) => settings.dynatemp, toIntArray = () => [];
const getCustomTokenBans = () => ({ banned_tokens: '', banned_strings: [] });
const replaceMacrosInList = (text) => text, getStoppingStrings = () => ['\\nUser:'];
${part('export function createTextGenGenerationData', '\n}')}
written = (type, more) => createTextGenGenerationData(
  { ...textgenerationwebui_settings, ...more, type }, 'gatelink', prompt, 8);
`;
const box = { written: null, prompt: given.context, probabilities: false };
runInNewContext(code, box);
const kept = (body, keys) => Object.fromEntries(Object.entries(body).filter(([name]) => keys.includes(name)));
const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
async function sent(address, body) {
  const answer = await fetch(address, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${body.api_type ?? address}: ${answer.status} ${text}`);
  return text;
}

const KEYS = { vllm: VLLM_KEYS, generic: OPENAI_KEYS };
const forms = {};
for (const type of ['ooba', 'vllm', 'aphrodite', 'tabby', 'koboldcpp', 'generic']) {
  const texts = [];
  for (const more of [{ seed: 7 }, { seed: 7 }, { seed: -1 }]) {
    const made = JSON.parse(JSON.stringify(box.written(type, more)));
    const body = { ...(type in KEYS ? kept(made, KEYS[type]) : made) };
    texts.push(JSON.parse(await sent(`${url}/completions`, body)).choices[0].text);
  }
  const body = JSON.parse(JSON.stringify(box.written(type, { seed: 7 })));
  const streamed = await sent(`${url}/completions`, { ...(type in KEYS ? kept(body, KEYS[type]) : body), stream: true });
  const pieces = streamed.split('\n').filter((line) => line.startsWith('data: {')).map((line) => JSON.parse(line.slice(6)));
  texts.push(pieces.map((piece) => piece.choices[0]?.text ?? '').join(''));
  forms[type] = texts;
}
const made = JSON.parse(JSON.stringify(box.written('ollama', { seed: 7 })));
const asked = { model: made.model, prompt: made.prompt, stream: false, keep_alive: -1, raw: true };
const answer = await sent(`${ollama}/api/generate`, { ...asked, options: kept(made, OLLAMA_KEYS) });
console.log(JSON.stringify({ forms, ollama: JSON.parse(answer).response }));
