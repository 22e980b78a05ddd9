import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { IconButton } from '../controls/icon.jsx';

/** Opens the attention of a reply, where that is kept. @param {{node: string | null}} props null: it is being made */
export function LookedButton({ node }) {
  const app = useApp();
  const kept = app.attention.kept.value;
  if (kept === null || kept.chat !== app.library.chat.value.id || kept.node !== node) return null;
  return <IconButton icon="attention" label={t('What it looked at')} onClick={() => (app.sheet.value = 'attention')} />;
}
