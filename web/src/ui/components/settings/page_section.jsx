import { useSignal } from '@preact/signals';
import { LANGUAGES, t } from '../../words/languages/words.js';
import { askToNotify, canNotify } from '../../view/device/permission.js';
import { Choice } from '../controls/choice.jsx';
import { useApp } from '../context.jsx';

/** How the page looks, what keys do, and how it tells of a reply. */
export function PageSection() {
  const app = useApp();
  const { theme, text_size: size, language, transport, enter } = app.settings.value;
  return (
    <section class="section" aria-labelledby="page">
      <h3 id="page">{t('This page')}</h3>
      <Choice
        name="theme"
        label={t('Theme')}
        options={[['auto', t('Auto')], ['light', t('Light')], ['dark', t('Dark')]]}
        value={theme}
        onChange={(value) => app.change({ theme: value })}
      />
      <Choice
        name="text_size"
        label={t('Text size')}
        options={[['small', t('Small')], ['normal', t('Normal')], ['large', t('Large')], ['huge', t('Huge')]]}
        value={size}
        onChange={(value) => app.change({ text_size: value })}
      />
      <Choice
        name="language"
        label={t('Language')}
        options={LANGUAGES.map(([key, words]) => [key, key === 'auto' ? t('Auto') : words])}
        value={language}
        onChange={(value) => app.change({ language: value })}
      />
      <Choice
        name="transport"
        label={t('Connection')}
        options={[['auto', t('Auto')], ['websocket', 'WebSocket'], ['http', 'HTTP']]}
        value={transport}
        onChange={(value) => {
          app.change({ transport: value });
          if (!app.replies.running.value) void app.connection.connect();
        }}
      />
      <Choice
        name="enter"
        label={t('Enter')}
        options={[['auto', t('Auto')], ['sends', t('Sends')], ['breaks', t('New line')]]}
        value={enter}
        onChange={(value) => app.change({ enter: value })}
      />
      <p class="hint">{t('Auto: a new line from a touch keyboard, else it sends. Ctrl+Enter always sends.')}</p>
      <Notify />
      <Install />
    </section>
  );
}

/** The browser asks its user when the switch is turned on, and at no other time. */
function Notify() {
  const app = useApp();
  const refused = useSignal(false);
  const able = canNotify();
  const turned = async (/** @type {boolean} */ on) => {
    refused.value = on && !(await askToNotify());
    app.change({ notify: on && !refused.value });
  };
  return (
    <div class="field">
      <label class="switch">
        <input
          type="checkbox"
          checked={app.settings.value.notify}
          disabled={!able}
          aria-describedby="notify-hint"
          onChange={(event) => void turned(event.currentTarget.checked)}
        />
        {t('Tell me when a reply is ready')}
      </label>
      <p class={refused.value ? 'problem' : 'hint'} id="notify-hint">
        {!able && t('Not over plain http, or not in this browser.')}
        {refused.value && t('The browser does not allow it for this page; its own settings do.')}
        {able && !refused.value &&
          t('While the page is not seen, the device shows “A reply is ready”, never a word of it.')}
      </p>
    </div>
  );
}

function Install() {
  const app = useApp();
  const { state, ask } = app.install.value;
  if (state === 'by_hand') {
    return <p class="hint">{t('To install: tap the Share button, then “Add to Home Screen”.')}</p>;
  }
  if (state !== 'ready') return null;
  return (
    <div class="row">
      <button type="button" class="button" onClick={ask}>
        {t('Install as an app')}
      </button>
    </div>
  );
}
