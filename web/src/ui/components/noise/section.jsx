import { FIRST_NOISE } from '../../../settings/noise.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { SwitchSection } from '../controls/switch_section.jsx';
import { Lazy } from '../lazy.jsx';

const settings = () => import('./panel.jsx').then(({ NoiseSettings }) => ({ default: NoiseSettings }));

/** Whether rows of the shown chat are noised before they leave. */
export function NoiseSection() {
  const app = useApp();
  const { noise, roots } = app.library.chat.value;
  const on = noise?.on === true;
  const begun = roots.length > 0;
  const turn = (/** @type {boolean} */ next) => app.changeNoise({ ...(noise ?? FIRST_NOISE), on: next });
  return (
    <SwitchSection
      id="noise"
      title={t('Noise')}
      label={t('Add noise to what this chat sends')}
      hint={t(
        'It gives the epsilon that is shown, and nothing more. There is no comfortable setting: noise that protects the prompt of a small model also ruins its replies.',
      )}
      on={on}
      disabled={app.fixed.value}
      onChange={turn}
      notes={
        <>
          {on && begun && <p class="hint">{t('What this chat sent before noise was switched on, the server knows.')}</p>}
          {noise && !on && begun && (
            <p class="problem">{t('Off: the next message sends this whole chat to the server without noise.')}</p>
          )}
        </>
      }
    >
      {on && <Lazy load={settings} onMissing={() => app.missing()} />}
    </SwitchSection>
  );
}
