import { firstRedaction } from '../../../settings/redaction.js';
import { changeRedaction } from '../../state/redaction/change.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { SwitchSection } from '../controls/switch_section.jsx';
import { RedactionSettings } from './settings.jsx';

/** Whether values of the shown chat become surrogates before they leave. */
export function RedactionSection() {
  const app = useApp();
  const { redaction, roots } = app.library.chat.value;
  const on = redaction?.on === true;
  const begun = roots.length > 0;
  const turn = (/** @type {boolean} */ next) =>
    changeRedaction(app, { ...(redaction ?? app.settings.value.redaction ?? firstRedaction(navigator.languages)), on: next });
  return (
    <SwitchSection
      id="redaction"
      title={t('Redaction')}
      label={t('Replace names, numbers and addresses in what this chat sends')}
      hint={t(
        'They become others of the same kind on this device, and the real ones again in what you see of the reply. Names that it does not know are sent as they are; it hides no facts about who is meant, and no lengths.',
      )}
      on={on}
      disabled={app.fixed.value}
      onChange={turn}
      notes={
        redaction && !on && begun && (
          <p class="problem">{t('Off: the next message sends this whole chat to the server with its values.')}</p>
        )
      }
    >
      {on && <RedactionSettings />}
    </SwitchSection>
  );
}
