import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMarkdown } from '../../src/markdown/markdown.js';
import { SAID, draws, redactor, said } from './some.js';

const EXHAUSTIVE = process.env.GATELINK_EXHAUSTIVE === '1';
// Where a surrogate stands in visible text.
const AROUND = [
  ['', ''], ['Hello ', ', how are you?'], ['**', '**'], ['- ', '\n'], ['`', '`'], ['(', ')'], ['“', '”'], ['| ', ' |'], ['> ', '\n\n'],
  ['# ', '\n'], ['', ';'], ['```\n', '\n```\n'], ['See [', '](http://a.example/x) there'], ['1. *', '*'], ['é ', ' 👍🏽'], ['a < b, ', ' > c'],
];

/** In pieces of up to so many letters. @param {any} undo @param {string} text @param {(below: number) => number} draw */
function inPieces(undo, text, draw) {
  let made = '';
  const letters = [...text];
  while (letters.length) {
    const piece = letters.splice(0, 1 + draw(7)).join('');
    const more = undo.push(piece);
    made += more;
  }
  return made + undo.finish();
}

test('two thousand replies that use surrogates come back exactly, in whatever pieces they come', async () => {
  const { known, pairs } = await said();
  assert.ok(pairs.length >= 8, JSON.stringify(pairs));
  const draw = draws(11);
  for (let i = 0; i < 2000; i++) {
    let [wrote, meant] = ['', ''];
    for (let part = 0; part < 1 + draw(6); part++) {
      const [before, behind] = AROUND[draw(AROUND.length)];
      const [value, surrogate] = pairs[draw(pairs.length)];
      wrote += `${before}${surrogate}${behind} `;
      meant += `${before}${value}${behind} `;
    }
    assert.equal(known.undone(wrote).text, meant);
    assert.equal(inPieces(known.undoing(), wrote, draw), meant);
  }
});

test('a message comes back from its own surrogates', async () => {
  const { known, sent } = await said();
  assert.equal(known.undone(sent).text, SAID);
});

test('no number goes on in another one', async () => {
  const text = 'DE11-9078-6666-1760-3137-21\n\n4590.1092.8159.0130\n\nDE36 6252 7601 8955 5979 71\n\n4147 1049 7465 0752';
  const { known, sent } = await said(text);
  for (const digits of ['4590109281590130', '4147104974650752']) assert.ok(!sent.replace(/[^0-9]/g, '').includes(digits), sent);
  assert.equal(known.undone(sent).text, text);
});

test('pieces tell which part of what the model wrote stands for which of what is shown', async () => {
  const { known, pairs } = await said();
  const wrote = pairs.map(([, surrogate]) => `x ${surrogate}`).join(', ');
  const { text, pieces } = known.undone(wrote);
  const told = pieces.map(({ from, to, at, end }) => [text.slice(at, end), wrote.slice(from, to)]);
  // Of a phone number the code stays as it was written.
  assert.deepEqual(told, pairs.map((pair) => pair.map((each) => each.replace('+49 ', ''))));
});

const SCRAPS = ['[', ']', '](', '](<', '>)', ')', '(', '![', ']: ', ']:\n', '[1]', 'http://evil.example/?q=', 'https://', 'www.evil.example/', '<',
  '>', '</', '<a href="', '<img src=', '"', "'", '=', ' ', '\n', '\n\n', '\\', '*', '**', '`', '|', '@evil.example', 'mailto:', '&#40;', '&amp;', '.',
  '/', '#', '?q=', 'x', 'evil.example', '~~', '$', '\\(', '<!--', '-->', '\t', '    '];

/** All addresses of a reply's tree. @param {any} node @returns {string[]} */
function addresses(node) {
  if (Array.isArray(node)) return node.flatMap(addresses);
  if (typeof node !== 'object' || node === null) return [];
  return [...(node.type === 'link' ? [node.href] : []), ...Object.values(node).flatMap(addresses)];
}

test('no reply, however it is written, leads a value into an address', async () => {
  const { known, pairs } = await said();
  const draw = draws(5);
  const secret = pairs.map(([value]) => value.toLowerCase());
  for (let i = 0; i < (EXHAUSTIVE ? 200_000 : 8_000); i++) {
    let wrote = '';
    for (let part = 0; part < 3 + draw(12); part++) {
      wrote += draw(3) ? SCRAPS[draw(SCRAPS.length)] : pairs[draw(pairs.length)][1];
    }
    const { text } = known.undone(wrote);
    for (const address of addresses(parseMarkdown(text))) {
      // The address of a mailbox leads to its own domain, and to nobody else.
      const told = unescaped(address).toLowerCase().replace(/^mailto:[^@?/]*a\.schmidt@firma\.de$/, '');
      const led = secret.filter((value) => told.includes(value) || told.replace(/[^a-z0-9]/g, '').includes(value.replace(/[^a-z0-9]/g, '')));
      assert.deepEqual(led, [], JSON.stringify([wrote, text, address]));
    }
  }
});

/** Milliseconds that this process has worked: others on the machine take none of them. */
function worked() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** @param {string} address */
function unescaped(address) {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}

test('a kB of text takes at most 2 ms on its way out, and as much on its way back, also where it comes in small pieces', async () => {
  const prose = 'The meeting was moved to the second floor, as the room was too small for all of them, and nobody minded. '.repeat(500);
  const text = `${prose}${SAID}${prose}`;
  const kilobytes = text.length / 1024;
  const known = redactor();
  const spent = [];
  for (let i = 0; i < 3; i++) {
    const times = [worked()];
    const { text: sent } = await known.redacted(text);
    times.push(worked());
    known.undone(sent);
    times.push(worked());
    const undo = known.undoing();
    for (let at = 0; at < sent.length; at += 4) undo.push(sent.slice(at, at + 4));
    undo.finish();
    times.push(worked());
    spent.push(times.slice(1).map((time, way) => time - times[way]));
  }
  for (const way of [0, 1, 2]) assert.ok(Math.min(...spent.map((times) => times[way])) / kilobytes < 2, JSON.stringify(spent));
});
