import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { IconButton } from '../controls/icon.jsx';
import { Lazy } from '../lazy.jsx';

/** Whether the conversation is tinted by what replies looked at; there for chats that tell it, or told it once. */
export function TintSwitch() {
  const app = useApp();
  const on = app.tint.value !== null;
  const { attention, nodes } = app.library.chat.value;
  if (!on && !attention && !Object.values(nodes).some(({ brightness }) => brightness)) return null;
  const toggle = () => void app.toggleTint().catch(() => app.missing());
  return <IconButton icon="tint" label={t('Tint by what was looked at')} pressed={on} onClick={toggle} />;
}

const panel = () => import('./panel.jsx');

/** What belongs to the tint, above the message field. */
export function TintPanel() {
  const app = useApp();
  if (app.tint.value === null) return null;
  const gone = () => {
    app.tint.value = null;
    app.missing();
  };
  return <Lazy load={panel} onMissing={gone} />;
}
