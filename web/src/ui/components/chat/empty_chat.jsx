import { ago } from '../../words/format.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { Icon } from '../controls/icon.jsx';
import { SetupCard } from '../setup/card.jsx';

const RECENT = 3;

/** A chat without messages: what is still to be done, or what this is and how one may begin. */
export function EmptyChat() {
  const app = useApp();
  const { name, server, problem } = app.connection.phase.value;
  if (name !== 'ready' && name !== 'connecting' && name !== 'preparing') return <SetupCard />;
  const chats = server?.manifest.hasTemplate !== false;
  return (
    <div class="empty">
      <Icon name="mark" class="mark" />
      <h2>{server ? server.manifest.name : 'Gatelink'}</h2>
      <p>{name === 'connecting' && problem ? t('The server loads the model; the page goes on by itself.') : wordsOf(name)}</p>
      {name === 'preparing' && <Prepared />}
      {name === 'ready' && !chats && (
        <p>{t('This model was not made for chats: it continues what you write.')}</p>
      )}
      {name === 'ready' && <Starters chats={chats} />}
      <Recent />
    </div>
  );
}

/** @param {'connecting' | 'preparing' | 'ready'} name */
function wordsOf(name) {
  if (name === 'connecting') return t('Connecting…');
  if (name === 'preparing') return t('Preparing the model…');
  return t(
    'This device holds the ends of the model and picks every token; the server computes what lies between.',
  );
}

/** Beginnings that fill the message field, to be gone on with; nothing is sent. @param {{chats: boolean}} props */
function Starters({ chats }) {
  const app = useApp();
  const begin = (/** @type {string} */ text) => {
    app.type(text);
    const field = document.getElementById('composer');
    if (!(field instanceof HTMLTextAreaElement)) return;
    field.focus();
    // The field has the text after the next drawing.
    requestAnimationFrame(() => field.setSelectionRange(text.length, text.length));
  };
  const starters = chats
    ? [t('Explain in simple words: '), t('Write a short letter about '), t('Give me ideas for ')]
    : [t('Once upon a time '), t('The most important thing about ')];
  return (
    <ul class="starters" aria-label={t('Beginnings')}>
      {starters.map((text) => (
        <li key={text}>
          <button type="button" class="button" onClick={() => begin(text)}>
            {text.replace(/[\s:]+$/, '')}…
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The chats that were used last. */
function Recent() {
  const app = useApp();
  const chats = [...app.library.list.value].sort((a, b) => b.updated - a.updated).slice(0, RECENT);
  if (!chats.length) return null;
  return (
    <section class="recent" aria-labelledby="recent">
      <h3 id="recent">{t('Go on with')}</h3>
      <ul>
        {chats.map(({ id, title, updated }) => (
          <li key={id}>
            <button type="button" class="button" onClick={() => void app.openChat(id)}>
              <span class="name" dir="auto">
                {title || t('Untitled')}
              </span>
              <span class="hint">{ago(updated, Date.now())}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Shown only where it takes a while, as it does the first time for a large model. */
function Prepared() {
  const app = useApp();
  const fraction = app.connection.prepared.value ?? 0;
  return <progress class="bar later" aria-label={t('Prepared')} value={fraction} max={1} />;
}
