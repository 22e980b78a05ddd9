import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { path } from '../../../chats/tree.js';
import { whenWanted } from '../../view/messages/places.js';
import { stays } from '../../view/messages/stays.js';
import { around, earlier, later, newest, within } from '../../view/messages/window.js';
import { number } from '../../words/format.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { SetupCard } from '../setup/card.jsx';
import { EmptyChat } from './empty_chat.jsx';
import { LiveReply } from './live_reply.jsx';
import { Place } from './place.jsx';
import { ReplyMessage } from './reply_message.jsx';
import { Unanswered } from './unanswered.jsx';
import { UserMessage } from './user_message.jsx';

/** @typedef {import('../../../chats/types').ChatNode} ChatNode */
/** @typedef {import('../../view/messages/window.js').Window} Window */
/** Messages of one chat that stand in the page. @typedef {Window & {chat: string}} Shown */

// What only the user can do stands below the messages; what passes by itself does not.
/** @type {Set<import('../../machine/phase.js').PhaseName>} */
const IN_THE_WAY = new Set(['needs_token', 'needs_download', 'downloading', 'failed']);
// A screen of a computer has room for about as many short messages.
const DRAWN_AT_ONCE = 12;

/** The messages of the shown chat, as many as the page can lay out. @param {{shown: import('@preact/signals').Signal<Shown | null>}} props */
export function Conversation({ shown }) {
  const app = useApp();
  const chat = app.library.chat.value;
  const live = app.busyHere.value;
  const over = live ? app.replies.running.value?.over : null;
  const nodes = path(chat).filter(({ id }) => id !== over);
  const own = shown.value?.chat === chat.id ? shown.value : null;
  const { from, to } = within(own ?? newest(nodes.length), nodes.length);
  const show = useWindow(shown, from, to);
  if (!nodes.length && !live) {
    return (
      <div class="column centre">
        <EmptyChat />
      </div>
    );
  }
  return (
    <div class="column" role="log" aria-live="off" aria-label={t('Messages')} aria-busy={live}>
      {from > 0 && (
        <Further
          label={t('Show earlier messages ({n})', { n: number(from) })}
          onClick={() => show(earlier({ from, to }, nodes.length), nodes[from].id)}
        />
      )}
      <Messages nodes={nodes} from={from} to={to} />
      {to < nodes.length ? (
        <Further
          label={t('Show later messages ({n})', { n: number(nodes.length - to) })}
          onClick={() => show(later({ from, to }, nodes.length), nodes[to - 1].id)}
        />
      ) : (
        <End last={nodes[nodes.length - 1]} live={live} />
      )}
    </div>
  );
}

/**
 * Has other messages stand in the page: those before or behind, and whichever is gone to.
 * @param {import('@preact/signals').Signal<Shown | null>} shown @param {number} from @param {number} to
 * @returns {(next: Window, edge: string) => void} edge: the message that stays where it is
 */
function useWindow(shown, from, to) {
  const { library } = useApp();
  const still = useRef(() => {});
  useLayoutEffect(() => {
    still.current();
    still.current = () => {};
  }, [from, to]);
  useEffect(() => {
    const wanted = (/** @type {string} */ id) => {
      const chat = library.chat.peek();
      const [count, at] = [path(chat).length, path(chat).findIndex((node) => node.id === id)];
      if (at >= 0) shown.value = { ...around(at, count), chat: chat.id };
    };
    return whenWanted(/** @type {HTMLElement} */ (document.getElementById('messages')), wanted);
  }, []);
  return (next, edge) => {
    still.current = stays(edge);
    shown.value = { ...next, chat: library.chat.peek().id };
  };
}

/** @param {{nodes: readonly ChatNode[], from: number, to: number}} props */
function Messages({ nodes, from, to }) {
  const app = useApp();
  const { id } = app.library.chat.value;
  const last = nodes[nodes.length - 1];
  const lastSaid = nodes.findLast(({ role }) => role === 'user');
  return (
    <>
      {nodes.slice(from, to).map((node, index) => (
        <Place
          key={`${id} ${node.id}`}
          node={node}
          soon={from + index >= nodes.length - DRAWN_AT_ONCE}
          latest={node === last || node === lastSaid}
        >
          {node.role === 'user' ? <UserMessage node={node} /> : <ReplyMessage node={node} last={node === last} />}
        </Place>
      ))}
    </>
  );
}

/** What stands behind the last message. @param {{last: ChatNode | undefined, live: boolean}} props */
function End({ last, live }) {
  const app = useApp();
  return (
    <>
      {live && <LiveReply />}
      {!live && last?.role === 'user' && <Unanswered leaf={last.id} />}
      {IN_THE_WAY.has(app.connection.phase.value.name) && <SetupCard />}
    </>
  );
}

/** @param {{label: string, onClick: () => void}} props */
function Further({ label, onClick }) {
  return (
    <button type="button" class="button quiet further" onClick={onClick}>
      {label}
    </button>
  );
}
