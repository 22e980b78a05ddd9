import { firstRedaction } from '../../../settings/redaction.js';
import { changeRedaction } from '../../state/redaction/change.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
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
    <section class="section" aria-labelledby="redaction">
      <h3 id="redaction">{t('Redaction')}</h3>
      <div class="field">
        <label class="switch">
          <input
            type="checkbox"
            checked={on}
            disabled={app.fixed.value}
            aria-describedby="redaction-hint"
            onChange={(event) => turn(event.currentTarget.checked)}
          />
          {t('Replace names, numbers and addresses in what this chat sends')}
        </label>
        <p class="hint" id="redaction-hint">
          {t(
            'They become others of the same kind on this device, and the real ones again in what you see of the reply. Names that it does not know are sent as they are; it hides no facts about who is meant, and no lengths.',
          )}
        </p>
        {redaction && !on && begun && (
          <p class="problem">{t('Off: the next message sends this whole chat to the server with its values.')}</p>
        )}
      </div>
      {on && <RedactionSettings />}
    </section>
  );
}
