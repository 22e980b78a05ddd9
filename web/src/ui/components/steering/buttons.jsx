// What stands below a message of how it goes on, and is changed; what it opens is loaded then.
import { useState } from 'preact/hooks';
import { canContinue } from '../../state/steering.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { IconButton } from '../controls/icon.jsx';
import { Lazy } from '../lazy.jsx';

/** @typedef {import('../../../chats/types').ChatNode} ChatNode */
/** @typedef {{node: ChatNode}} Props */

const editor = () => import('./editor.jsx');
const more = () => import('./more.jsx');

/** Goes on with a reply that was cut short. @param {Props} props */
export function Continue({ node }) {
  const app = useApp();
  if (!canContinue(node) || app.elsewhere.writing.value) return null;
  return (
    <div class="row">
      <button
        type="button"
        class="button"
        disabled={app.hindrance.value !== null}
        onClick={() => app.steering.continue(node.id)}
      >
        {t('Continue')}
      </button>
    </div>
  );
}

/** Opens how likely the tokens of a reply were, where that is kept. @param {{node: string}} props */
export function LikelyButton({ node }) {
  const app = useApp();
  if (app.steering.answerOf(node) === null) return null;
  return <IconButton icon="likely" label={t('How likely it was')} onClick={() => app.steering.look(node)} />;
}

/** What is seldom done with a message. @param {Props} props */
export function More({ node }) {
  const app = useApp();
  const [open, setOpen] = useState(false);
  return (
    <>
      <IconButton
        icon="more"
        label={node.role === 'user' ? t('Do more with this message') : t('Do more with this reply')}
        expanded={open}
        onClick={() => setOpen(!open)}
      />
      {open && <Lazy load={more} onMissing={() => app.missing()} given={{ node, close: () => setOpen(false) }} />}
    </>
  );
}

/** The reply in a field, to be changed. @param {Props} props */
export function ReplyEditor({ node }) {
  const app = useApp();
  return (
    <article class="message from-model" aria-label={t('Reply')}>
      <Lazy load={editor} onMissing={() => app.missing()} given={{ node }} />
    </article>
  );
}
