import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { foldersOf } from '../../view/chats/groups.js';
import { ago } from '../../words/format.js';
import { t } from '../../words/languages/words.js';
import { saveFile } from '../../view/download.js';
import { useApp } from '../context.jsx';
import { IconButton } from '../controls/icon.jsx';

/** @typedef {import('../../../chats/types').ChatSummary & {line?: string}} Item */

/** One saved chat; what can be done with it opens below it. @param {{chat: Item}} props */
export function ChatItem({ chat }) {
  const app = useApp();
  const open = useSignal(/** @type {'closed' | 'actions' | 'rename' | 'folder' | 'forget'} */ ('closed'));
  const current = app.library.chat.value.id === chat.id;
  const title = chat.title || t('Untitled');
  const rename = (/** @type {string} */ name) => {
    open.value = 'closed';
    if (name.trim()) void app.library.rename(chat.id, name);
  };
  const move = (/** @type {{pinned?: boolean, folder?: string}} */ place) => {
    open.value = 'closed';
    // The chat's place in the list goes, and its buttons with it.
    focusHeading();
    void app.library.move(chat.id, place);
  };
  const remove = () => {
    // The button goes with the chat; the focus stays in the list's part of the page.
    focusHeading();
    void app.deleteChat(chat.id);
  };
  return (
    <li class={current ? 'chats-item current' : 'chats-item'}>
      <div class="line">
        <button
          type="button"
          class="open"
          aria-current={current ? 'true' : undefined}
          onClick={() => void app.openChat(chat.id)}
        >
          <span class="name" dir="auto">
            {title}
          </span>
          <span class="when">{chat.line || ago(chat.updated, Date.now())}</span>
        </button>
        <IconButton
          icon="more"
          label={t('More for {title}', { title })}
          expanded={open.value !== 'closed'}
          onClick={() => (open.value = open.value === 'closed' ? 'actions' : 'closed')}
        />
      </div>
      {open.value === 'actions' && (
        <div class="more">
          <button type="button" class="button" onClick={() => (open.value = 'rename')}>
            {t('Rename')}
          </button>
          <button type="button" class="button" onClick={() => move({ pinned: !chat.pinned })}>
            {chat.pinned ? t('Unpin') : t('Pin')}
          </button>
          <button type="button" class="button" onClick={() => (open.value = 'folder')}>
            {t('Folder')}
          </button>
          <button type="button" class="button" onClick={() => void app.exchange.save(chat.id, saveFile)}>
            {t('Export')}
          </button>
          <button type="button" class="button" onClick={() => (open.value = 'forget')}>
            {t('Forget on the server')}
          </button>
          <button type="button" class="button danger" onClick={remove}>
            {t('Delete')}
          </button>
        </div>
      )}
      {open.value === 'forget' && (
        <Forget
          onDone={() => {
            open.value = 'closed';
            void app.forgetChat(chat.id);
          }}
          onCancel={() => (open.value = 'closed')}
        />
      )}
      {open.value === 'rename' && (
        <Named
          label={t('Name of the chat')}
          verb={t('Rename')}
          text={chat.title}
          onDone={rename}
          onCancel={() => (open.value = 'closed')}
        />
      )}
      {open.value === 'folder' && (
        <Named
          label={t('Folder; empty: none')}
          verb={t('Move')}
          text={chat.folder ?? ''}
          known={foldersOf(app.library.list.value)}
          onDone={(folder) => move({ folder })}
          onCancel={() => (open.value = 'closed')}
        />
      )}
    </li>
  );
}

/** What forgetting does, before it is done. @param {{onDone: () => void, onCancel: () => void}} props */
function Forget({ onDone, onCancel }) {
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
  useLayoutEffect(() => button.current?.focus(), []);
  return (
    <div class="forget">
      <p>
        {t(
          'The server keeps what it has computed of a chat for a while, so that going on is quick. It is asked to delete that for this chat. The chat stays here, and its next message sends all of it again.',
        )}
      </p>
      <div class="row">
        <button ref={button} type="button" class="button primary" onClick={onDone}>
          {t('Forget on the server')}
        </button>
        <button type="button" class="button quiet" onClick={onCancel}>
          {t('Cancel')}
        </button>
      </div>
    </div>
  );
}

function focusHeading() {
  const heading = document.querySelector('.chats h2');
  if (heading instanceof HTMLElement) heading.focus();
}

/**
 * A name of or for a chat.
 * @param {{label: string, verb: string, text: string, known?: string[], onDone: (text: string) => void,
 *   onCancel: () => void}} props known: names that may be meant
 */
function Named({ label, verb, text, known = [], onDone, onCancel }) {
  const list = useId();
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useLayoutEffect(() => field.current?.select(), []);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    onDone(field.current?.value ?? '');
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    onCancel();
  };
  return (
    <form onSubmit={submit} onKeyDown={pressed}>
      <input
        ref={field}
        class="text-field"
        aria-label={label}
        maxLength={200}
        list={known.length ? list : undefined}
        defaultValue={text}
      />
      {known.length > 0 && (
        <datalist id={list}>
          {known.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      )}
      <div class="row">
        <button type="submit" class="button primary">
          {verb}
        </button>
        <button type="button" class="button quiet" onClick={onCancel}>
          {t('Cancel')}
        </button>
      </div>
    </form>
  );
}
