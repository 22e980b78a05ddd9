import { t } from '../../words/languages/words.js';
import { EditorForm } from '../chat/editor_form.jsx';
import { useApp } from '../context.jsx';

/** A reply as text that can be changed, and gone on from. @param {{node: import('../../../chats/types').ChatNode}} props */
export default function Editor({ node }) {
  return <EditorForm node={node} label={t('Change the reply')} buttons={(text) => <Buttons node={node.id} text={text} />} />;
}

/** @param {{node: string, text: string}} props */
function Buttons({ node, text }) {
  const app = useApp();
  const blocked = app.fixed.value || !text.trim();
  return (
    <>
      <button type="button" class="button" disabled={blocked} onClick={() => app.steering.amend(node, text, false)}>
        {t('Save')}
      </button>
      <button
        type="button"
        class="button primary"
        disabled={blocked || app.hindrance.value !== null}
        onClick={() => app.steering.amend(node, text, true)}
      >
        {t('Continue from here')}
      </button>
    </>
  );
}
