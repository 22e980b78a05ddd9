import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { useComputed, useSignal } from '@preact/signals';
import { Follow } from '../../view/follow.js';
import { Composer } from './composer.jsx';
import { Conversation } from './conversation.jsx';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { IconButton } from '../controls/icon.jsx';
import { Lazy } from '../lazy.jsx';
import { TintPanel } from '../tint/switch.jsx';

const find = () => import('./find.jsx');

/** The messages of the shown chat. The list stays at its end while it grows, until the reader scrolls up. */
export function MessageList() {
  const app = useApp();
  const list = useRef(/** @type {HTMLDivElement | null} */ (null));
  const away = useSignal(false);
  /** Which messages stand in the page; null: the newest. */
  const shown = useSignal(/** @type {import('./conversation.jsx').Shown | null} */ (null));
  const follow = useRef(new Follow());
  const id = useComputed(() => app.library.chat.value.id).value;
  const replying = app.busyHere.value;

  const toEnd = () => {
    follow.current.toEnd();
    away.value = false;
    shown.value = null;
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
        <Conversation shown={shown} />
      </div>
      <div class="foot">
        {away.value && <IconButton class="to-end" icon="down" label={t('To the end')} onClick={toEnd} />}
        <TintPanel />
        <Composer />
      </div>
    </>
  );
}
