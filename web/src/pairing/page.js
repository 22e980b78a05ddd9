/** The page /pair: a code or a token in, and on to the chat. */
import { guessName } from './device_name.js';
import { describeLoss, findLoss } from './losses.js';
import { isAccepted, isToken, loadToken, redeem, storeToken, takeLink } from './pair.js';
import { explain } from './words.js';

const APP = '/';

const link = takeLink(location, history);
const form = /** @type {HTMLFormElement} */ (document.getElementById('pair'));
const tokenForm = /** @type {HTMLFormElement} */ (document.getElementById('with-token'));
const code = input('code');
const name = input('name');
const token = input('token');

/** @param {string} id @returns {HTMLElement} */
function element(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** @param {string} id @returns {HTMLInputElement} */
function input(id) {
  return /** @type {HTMLInputElement} */ (document.getElementById(id));
}

/** @param {string} text @param {boolean} [failed] */
function say(text, failed = false) {
  const message = element('message');
  message.textContent = text;
  message.classList.toggle('failed', failed);
}

/**
 * Runs `work` once at a time with `submitted` locked, and says what failed.
 * @param {HTMLFormElement} submitted @param {() => Promise<void>} work
 */
function onSubmit(submitted, work) {
  const button = /** @type {HTMLButtonElement} */ (submitted.querySelector('button'));
  submitted.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    button.disabled = true;
    try {
      await work();
    } catch (error) {
      say(explain(error), true);
    } finally {
      button.disabled = false;
    }
  });
}

async function pair() {
  say('Pairing …');
  const paired = await redeem({ code: code.value, name: name.value || guessName(navigator) });
  storeToken(paired.token);
  say(`Paired as ${paired.name}. Opening the chat …`);
  location.replace(APP);
}

async function useToken() {
  const given = token.value.trim();
  if (!isToken(given)) {
    say('This is no token: it has 16 to 512 letters, digits or ._~+/=-', true);
  } else if (await isAccepted(given)) {
    storeToken(given);
    location.replace(APP);
  } else {
    say('The server does not know this token.', true);
  }
}

async function tellWhetherPaired() {
  const kept = loadToken();
  if (kept === null) return;
  try {
    if (!(await isAccepted(kept))) {
      say('This browser was paired, but the server does not know it any more. Pair it again.');
      return;
    }
  } catch {
    // The token may still count: say so much.
  }
  say('This browser is paired already. Pairing again replaces its token.');
  element('open').hidden = false;
}

async function tellLoss() {
  const loss = await findLoss({ isSecureContext, serviceWorkers: navigator.serviceWorker });
  if (loss === null) return;
  const { title, words } = describeLoss(loss);
  element('loss-title').textContent = title;
  element('loss-words').replaceChildren(...words.map(paragraph));
  element('loss').hidden = false;
}

/** @param {string} text */
function paragraph(text) {
  const made = document.createElement('p');
  made.textContent = text;
  return made;
}

/** @param {string} path @returns {Promise<boolean>} */
async function isMissing(path) {
  const answer = await fetch(path, { method: 'HEAD', cache: 'no-store' }).catch(() => null);
  return answer !== null && !answer.ok;
}

/** Servers without an authority of their own have nothing that could be trusted by hand. */
async function tellAuthority() {
  if (link?.fingerprint) {
    element('fingerprint').textContent = link.fingerprint;
    element('fingerprint-line').hidden = false;
    return;
  }
  element('trust').hidden = location.protocol !== 'https:' || (await isMissing('/ca.crt'));
}

/** Who follows a link has nothing to type: what is to be pressed comes first, then what is lost. */
function pressFirst() {
  const button = /** @type {HTMLButtonElement} */ (form.querySelector('button'));
  form.prepend(button, element('loss'));
}

code.value = link?.code ?? '';
name.value = guessName(navigator);
onSubmit(form, pair);
onSubmit(tokenForm, useToken);
element('no-script').remove();
element('actions').hidden = false;
if (link === null) code.focus();
else pressFirst();
void tellWhetherPaired();
void tellLoss();
void tellAuthority();
