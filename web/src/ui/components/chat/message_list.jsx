import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { useComputed, useSignal } from '@preact/signals';
import { path } from '../../../chats/tree.js';
import { Follow } from '../../view/follow.js';
import { Composer } from './composer.jsx';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { EmptyChat } from './empty_chat.jsx';
import { IconButton } from '../controls/icon.jsx';
import { Lazy } from '../lazy.jsx';
import { LiveReply } from './live_reply.jsx';
import { Place } from './place.jsx';
import { ReplyMessage } from './reply_message.jsx';
import { SetupCard } from '../setup/card.jsx';
import { TintPanel } from '../tint/switch.jsx';
import { Unanswered } from './unanswered.jsx';
import { UserMessage } from './user_message.jsx';

// What only the user can do stands below the messages; what passes by itself does not.
/** @type {Set<import('../../machine/phase.js').PhaseName>} */
const IN_THE_WAY = new Set(['needs_token', 'needs_download', 'downloading', 'failed']);
// A screen of a computer has room for about as many short messages.
const DRAWN_AT_ONCE = 12;

const find = () => import('./find.jsx');

/** The messages of the shown chat. The list stays at its end while it grows, until the reader scrolls up. */
export function MessageList() {
  const app = useApp();
  const list = useRef(/** @type {HTMLDivElement | null} */ (null));
  const away = useSignal(false);
  const follow = useRef(new Follow());
  const id = useComputed(() => app.library.chat.value.id).value;
  const replying = app.busyHere.value;

  const toEnd = () => {
    follow.current.toEnd();
    away.value = false;
    const element = list.current;
    if (element) element.scrollTop = element.scrollHeight;
  };
  useLayoutEffect(toEnd, [id]);
  useLayoutEffect(() => {
    if (replying) toEnd();
  }, [replying]);
  useEffect(() => {
    const element = list.current;
    if (!element) return undefined;
    const watch = new ResizeObserver(() => {
      if (follow.current.following) element.scrollTop = element.scrollHeight;
    });
    watch.observe(element);
    for (const child of element.children) watch.observe(child);
    return () => watch.disconnect();
  }, []);
  const scrolled = () => {
    if (list.current) away.value = !follow.current.scrolled(list.current);
  };

  return (
    <>
      {app.finding.value && <Lazy key={id} load={find} onMissing={() => app.missing()} />}
      <div class="scroll" id="messages" ref={list} onScroll={scrolled} tabIndex={-1}>
        <Conversation />
      </div>
      <div class="foot">
        {away.value && <IconButton class="to-end" icon="down" label={t('To the end')} onClick={toEnd} />}
        <TintPanel />
        <Composer />
      </div>
    </>
  );
}

function Conversation() {
  const app = useApp();
  const chat = app.library.chat.value;
  const live = app.busyHere.value;
  const over = live ? app.replies.running.value?.over : null;
  const nodes = path(chat).filter(({ id }) => id !== over);
  if (!nodes.length && !live) {
    return (
      <div class="column centre">
        <EmptyChat />
      </div>
    );
  }
  const last = nodes[nodes.length - 1];
  const lastSaid = nodes.findLast(({ role }) => role === 'user');
  return (
    <div class="column" role="log" aria-live="off" aria-label={t('Messages')} aria-busy={live}>
      {nodes.map((node, index) => (
        <Place
          key={`${chat.id} ${node.id}`}
          node={node}
          soon={index >= nodes.length - DRAWN_AT_ONCE}
          latest={node === last || node === lastSaid}
        >
          {node.role === 'user' ? (
            <UserMessage node={node} />
          ) : (
            <ReplyMessage node={node} last={node === last} />
          )}
        </Place>
      ))}
      {live && <LiveReply />}
      {!live && last?.role === 'user' && <Unanswered leaf={last.id} />}
      {IN_THE_WAY.has(app.connection.phase.value.name) && <SetupCard />}
    </div>
  );
}
