import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';

/** Stands below a reply that was asked for again and would be the same. @param {{node: string}} props */
export function Repeating({ node }) {
  const app = useApp();
  return (
    <div class="repeating" role="status">
      {app.repeating.value === node && (
        <>
          <p class="ended">{t('At temperature 0 another reply is the same one.')}</p>
          <div class="row">
            <button type="button" class="button primary" onClick={() => app.regenerate(node, 'varied')}>
              {t('Vary it')}
            </button>
            <button type="button" class="button" onClick={() => app.regenerate(node, 'as_set')}>
              {t('The same again')}
            </button>
          </div>
        </>
      )}
    </div>
  );
}
