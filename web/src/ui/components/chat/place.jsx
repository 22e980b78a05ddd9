import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { signal, useSignal } from '@preact/signals';
import { longPress } from '../../view/messages/long_press.js';
import { holdStill, whenNear } from '../../view/messages/nearby.js';
import { placeId } from '../../view/messages/places.js';
import { guessedHeight, rough } from '../../view/messages/rough.js';
import { shownReply } from '../../words/form.js';
import { t } from '../../words/languages/words.js';
import { LongText } from '../room/long_text.jsx';

/** @typedef {import('../../../chats/types').ChatNode} ChatNode */

/** The message whose buttons were asked for. @type {import('@preact/signals').Signal<ChatNode | null>} */
const opened = signal(null);

/**
 * Where a message stands. Until it comes near, its words alone stand there: they can be searched and read aloud, and
 * cost nothing to draw.
 * @param {{node: ChatNode, soon: boolean, latest: boolean, children: import('preact').ComponentChildren}} props
 *   soon: it is drawn at once; latest: its buttons are always there
 */
export function Place({ node, soon, latest, children }) {
  const place = useRef(/** @type {HTMLDivElement | null} */ (null));
  const before = useRef(/** @type {DOMRect | null} */ (null));
  const drawn = useSignal(soon);
  // What has been drawn stays so.
  if (soon && !drawn.peek()) drawn.value = true;
  const touched = useMemo(() => longPress(() => (opened.value = node)), [node]);
  const height = useMemo(() => guessedHeight(node.content), [node.content]);
  const ready = drawn.value;
  useLayoutEffect(() => {
    const element = /** @type {HTMLDivElement} */ (place.current);
    const list = /** @type {HTMLElement | null} */ (element.closest('.scroll'));
    if (!list) return undefined;
    if (ready) {
      if (before.current) holdStill(element, before.current, list);
      return undefined;
    }
    return whenNear(element, list, () => {
      before.current = element.getBoundingClientRect();
      drawn.value = true;
    });
  }, [ready]);
  const open = latest || opened.value === node;
  return (
    <div
      ref={place}
      class={open ? 'place open' : 'place'}
      id={placeId(node.id)}
      style={{ containIntrinsicBlockSize: `auto ${height}px` }}
      {...touched}
    >
      {ready ? children : <Words node={node} />}
    </div>
  );
}

/** A message before it is drawn. @param {{node: ChatNode}} props */
function Words({ node }) {
  const own = node.role === 'user';
  const words = useMemo(() => (own ? node.content : rough(shownReply(node.content, node.stats?.form))), [node]);
  return (
    <article class={own ? 'message from-user' : 'message from-model'} aria-label={own ? t('You') : t('Reply')}>
      <div class={own ? 'bubble folded' : 'text words-only'} dir="auto">
        <LongText text={words} />
      </div>
    </article>
  );
}
