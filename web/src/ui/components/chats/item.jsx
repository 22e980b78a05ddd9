import { useLayoutEffect, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { ago } from '../../words/format.js';
import { saveFile } from '../../view/download.js';
import { useApp } from '../context.jsx';
import { IconButton } from '../controls/icon.jsx';

/** @typedef {import('../../../chats/types').ChatSummary & {line?: string}} Item */

/** One saved chat; what can be done with it opens below it. @param {{chat: Item}} props */
export function ChatItem({ chat }) {
  const app = useApp();
  const open = useSignal(/** @type {'closed' | 'actions' | 'rename' | 'forget'} */ ('closed'));
  const current = app.library.chat.value.id === chat.id;
  const title = chat.title || 'Untitled';
  const rename = (/** @type {string} */ name) => {
    open.value = 'closed';
    if (name.trim()) void app.library.rename(chat.id, name);
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
          label={`More for ${title}`}
          expanded={open.value !== 'closed'}
          onClick={() => (open.value = open.value === 'closed' ? 'actions' : 'closed')}
        />
      </div>
      {open.value === 'actions' && (
        <div class="more">
          <button type="button" class="button" onClick={() => (open.value = 'rename')}>
            Rename
          </button>
          <button type="button" class="button" onClick={() => void app.exportChats(chat.id, saveFile)}>
            Export
          </button>
          <button type="button" class="button" onClick={() => (open.value = 'forget')}>
            Forget on the server
          </button>
          <button type="button" class="button danger" onClick={remove}>
            Delete
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
        <Rename title={chat.title} onDone={rename} onCancel={() => (open.value = 'closed')} />
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
        The server keeps what it has computed of a chat for a while, so that going on is quick. It is asked to delete
        that for this chat. The chat stays here, and its next message sends all of it again.
      </p>
      <div class="row">
        <button ref={button} type="button" class="button primary" onClick={onDone}>
          Forget on the server
        </button>
        <button type="button" class="button quiet" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </div>
  );
}

function focusHeading() {
  const heading = document.querySelector('.chats h2');
  if (heading instanceof HTMLElement) heading.focus();
}

/** @param {{title: string, onDone: (title: string) => void, onCancel: () => void}} props */
function Rename({ title, onDone, onCancel }) {
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
        aria-label="Name of the chat"
        maxLength={200}
        defaultValue={title}
      />
      <div class="row">
        <button type="submit" class="button primary">
          Rename
        </button>
        <button type="button" class="button quiet" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
