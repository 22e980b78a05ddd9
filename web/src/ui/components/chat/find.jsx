import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { path } from '../../../chats/tree.js';
import { mark, messagesWith, rangesOf } from '../../view/messages/found.js';
import { goTo } from '../../view/messages/places.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { IconButton } from '../controls/icon.jsx';

const AFTER_MS = 150;
const LONGEST = 200;

/** Looks for words in the shown chat, message by message; the newest is found first. */
export default function Find() {
  const app = useApp();
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const sought = useSignal('');
  const found = useSignal(/** @type {string[]} */ ([]));
  const at = useSignal(0);
  const go = async (/** @type {number} */ next) => {
    const ids = found.value;
    if (!ids.length) return mark([]);
    at.value = (next + ids.length) % ids.length;
    const ranges = (/** @type {HTMLElement} */ place) => rangesOf(place, sought.value);
    const place = await goTo(ids[at.value], (element) => ranges(element)[0]?.startContainer.parentElement ?? null);
    if (place && app.finding.value) mark(ranges(place));
  };
  const close = () => {
    app.finding.value = false;
    // Where there is little room the message field comes back with the next frame.
    requestAnimationFrame(() => document.getElementById('composer')?.focus({ preventScroll: true }));
  };
  useLayoutEffect(() => {
    field.current?.focus();
    return () => mark([]);
  }, []);
  useEffect(() => {
    let wanted = true;
    const look = async () => {
      const ids = await messagesWith(path(app.library.chat.peek()), sought.value, { wanted: () => wanted });
      if (ids === null || !wanted) return;
      found.value = ids;
      void go(ids.length - 1);
    };
    const timer = setTimeout(() => void look(), AFTER_MS);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [sought.value]);
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (event.isComposing || (event.key !== 'Enter' && event.key !== 'Escape')) return;
    event.preventDefault();
    if (event.key === 'Escape') close();
    else void go(at.value + (event.shiftKey ? -1 : 1));
  };
  const none = sought.value.trim() !== '' && !found.value.length;
  return (
    <div class="find" role="search" aria-label={t('Find in this chat')}>
      <input
        ref={field}
        type="search"
        class="text-field"
        aria-label={t('Find in this chat')}
        placeholder={t('Find in this chat')}
        autocomplete="off"
        maxLength={LONGEST}
        value={sought.value}
        onInput={(event) => (sought.value = event.currentTarget.value)}
        onKeyDown={pressed}
      />
      <p role="status">
        {none && t('Not found')}
        {found.value.length > 0 && t('{at} of {all}', { at: at.value + 1, all: found.value.length })}
      </p>
      <IconButton
        icon="up"
        label={t('Message before with these words')}
        disabled={!found.value.length}
        onClick={() => void go(at.value - 1)}
      />
      <IconButton
        icon="down"
        label={t('Next message with these words')}
        disabled={!found.value.length}
        onClick={() => void go(at.value + 1)}
      />
      <IconButton icon="close" label={t('End the search')} onClick={close} />
    </div>
  );
}
