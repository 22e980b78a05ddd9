import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InstallPrompt } from '../../src/pwa/install.js';

const ANDROID = { userAgent: 'Mozilla/5.0 (Linux; Android 14) Chrome/126', maxTouchPoints: 5 };
const IPHONE = { userAgent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5) Safari', maxTouchPoints: 5 };
const IPAD = { userAgent: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari', maxTouchPoints: 5 };
const MAC = { userAgent: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari', maxTouchPoints: 0 };

/** @param {object} agent @param {boolean} [standalone] */
function promptOn(agent, standalone = false) {
  const window = Object.assign(new EventTarget(), { matchMedia: () => ({ matches: standalone }) });
  const prompt = new InstallPrompt(/** @type {any} */ ({ window, agent }));
  /** @type {string[]} */
  const states = [];
  prompt.onChange = () => states.push(prompt.state);
  return { window, prompt, states };
}

/** @param {string} outcome */
function offer(outcome) {
  const event = Object.assign(new Event('beforeinstallprompt', { cancelable: true }), {
    asked: 0,
    prompt: async () => {
      event.asked += 1;
    },
    userChoice: Promise.resolve({ outcome }),
  });
  return event;
}

test("the browser's own question is kept until a person asks for it, and shown once", async () => {
  const { window, prompt, states } = promptOn(ANDROID);
  assert.equal(prompt.state, 'none');
  const event = offer('accepted');
  window.dispatchEvent(event);
  assert.ok(event.defaultPrevented);
  assert.equal(prompt.state, 'ready');
  assert.equal(await prompt.ask(), 'accepted');
  assert.equal(await prompt.ask(), 'dismissed');
  assert.equal(event.asked, 1);
  window.dispatchEvent(new Event('appinstalled'));
  assert.equal(prompt.state, 'installed');
  assert.deepEqual(states, ['ready', 'none', 'installed']);
});

test('a person may say no', async () => {
  const { window, prompt } = promptOn(ANDROID);
  window.dispatchEvent(offer('dismissed'));
  assert.equal(await prompt.ask(), 'dismissed');
  assert.equal(prompt.state, 'none');
});

test('on iOS it is done by hand, and nowhere else', () => {
  for (const agent of [IPHONE, IPAD]) assert.equal(promptOn(agent).prompt.state, 'by_hand');
  assert.equal(promptOn(MAC).prompt.state, 'none');
});

test('an app that was opened from the home screen is installed', () => {
  assert.equal(promptOn(ANDROID, true).prompt.state, 'installed');
  assert.equal(promptOn({ ...IPHONE, standalone: true }).prompt.state, 'installed');
});
