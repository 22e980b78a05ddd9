import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (/** @type {string} */ name) => readFileSync(new URL(`../../../../src/ui/${name}`, import.meta.url), 'utf8');
const LEAST = 4.5;
// Two levels that lie beside each other can be told apart without colours.
const LEAST_STEP = 1.1;

// What is seen without one kind of cones: Machado, Oliveira and Fernandes 2009, "A Physiologically-based Model for
// Simulation of Color Vision Deficiency", severity 1, in linear light; the last is seen without any.
const EYES = {
  'all cones': [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  'no long cones': [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  'no middle cones': [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  'no short cones': [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
  'no cones': [[0.2126, 0.7152, 0.0722], [0.2126, 0.7152, 0.0722], [0.2126, 0.7152, 0.0722]],
};

/** The custom properties of a theme. @param {string} css @param {boolean} dark @returns {Record<string, string>} */
function coloursOf(css, dark) {
  const block = css.split(dark ? /:root\[data-theme='dark'\] \{/ : /:root \{/)[1].split('}')[0];
  return Object.fromEntries([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6})/g)].map(([, name, colour]) => [name, colour]));
}

/** Relative luminance as eyes of a kind have it. @param {string} colour @param {number[][]} eyes */
function luminance(colour, eyes) {
  const linear = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  const seen = eyes.map((row) => Math.min(1, Math.max(0, row.reduce((sum, weight, i) => sum + weight * linear[i], 0))));
  return 0.2126 * seen[0] + 0.7152 * seen[1] + 0.0722 * seen[2];
}

/** @param {string} one @param {string} other @param {number[][]} eyes */
function contrast(one, other, eyes) {
  const [low, high] = [luminance(one, eyes), luminance(other, eyes)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

for (const dark of [false, true]) {
  const page = coloursOf(read('css/base.css'), dark);
  const tint = coloursOf(read('tint.css'), dark);
  const grounds = ['page', 'surface', 'bubble', 'code'].map((name) => page[name]);
  const pairs = [0, 1, 2, 3].flatMap((level) => grounds.map((ground) => [tint[`dim-${level}`], ground]));
  pairs.push(...[1, 2, 3].map((level) => [tint['dim-0'], tint[`looked-${level}`]]), [tint['on-strongest'], tint['looked-4']]);
  for (const [name, eyes] of Object.entries(EYES)) {
    test(`text stays legible in the ${dark ? 'dark' : 'light'} theme to eyes with ${name}`, () => {
      for (const [ink, ground] of pairs) assert.ok(contrast(ink, ground, eyes) >= LEAST, `${ink} on ${ground}`);
      const levels = [page.page, ...[1, 2, 3, 4].map((level) => tint[`looked-${level}`])];
      for (let i = 1; i < levels.length; i++) {
        assert.ok(contrast(levels[i - 1], levels[i], eyes) >= LEAST_STEP, `${levels[i - 1]} beside ${levels[i]}`);
      }
    });
  }
}
