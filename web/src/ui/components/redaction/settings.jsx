import { changeRedaction } from '../../state/redaction/change.js';
import { groupWords, readNames, readRegions } from '../../words/redaction.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { CheckedField } from '../controls/checked_field.jsx';
import { Lazy } from '../lazy.jsx';

/** @typedef {import('../../../chats/types').Redaction} Redaction */
/** @typedef {import('../../../../types/gatelink').RedactionChoice} RedactionChoice */

const wentOut = () => import('./panel.jsx').then(({ WentOut }) => ({ default: WentOut }));

/** What is replaced: names of the person's own, kinds, countries. */
export function RedactionSettings() {
  const app = useApp();
  const redaction = /** @type {Redaction} */ (app.library.chat.value.redaction);
  const put = (/** @type {Partial<RedactionChoice>} */ changes) => changeRedaction(app, { ...redaction, ...changes });
  return (
    <>
      {redaction.before > 0 && <Lazy load={wentOut} onMissing={() => app.missing()} />}
      <CheckedField
        id="own-names"
        label={t('Names of your own')}
        hint={t('One person a line, as Anna Schmidt. Kept in this browser with your settings and with the chat.')}
        text={redaction.names.join('\n')}
        lines
        read={readNames}
        onChange={(names) => put({ names })}
      />
      <Groups redaction={redaction} put={put} />
      <CheckedField
        id="regions"
        label={t('Countries')}
        hint={t('Whose phone numbers and ids are known without the code of the country, the first first: DE, AT.')}
        text={redaction.regions.join(', ')}
        read={readRegions}
        onChange={(regions) => put({ regions })}
      />
      <div class="row">
        <button type="button" class="button" onClick={() => (app.sheet.value = 'redaction')}>
          {t('What goes out')}
        </button>
      </div>
    </>
  );
}

/** @param {{redaction: Redaction, put: (changes: Partial<RedactionChoice>) => void}} props */
function Groups({ redaction, put }) {
  const app = useApp();
  const { groups } = redaction;
  const turn = (/** @type {string} */ group) =>
    put({ groups: groups.includes(group) ? groups.filter((each) => each !== group) : [...groups, group] });
  return (
    <fieldset class="radios">
      <legend>{t('What is replaced')}</legend>
      {groupWords().map(([group, words]) => (
        <label key={group}>
          <input type="checkbox" checked={groups.includes(group)} disabled={app.fixed.value} onChange={() => turn(group)} />
          <span>{words}</span>
        </label>
      ))}
    </fieldset>
  );
}
