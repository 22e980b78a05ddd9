import { useRendered } from '../../view/rendered.js';
import { CopyButton } from '../controls/copy_button.jsx';
import { Scroller } from './scroller.jsx';
import { t } from '../../words/languages/words.js';

/** @typedef {import('../../../markdown/rendering/types').CodePiece} CodePiece */

/** @param {{lang: string, text: string, open: boolean}} props open: more of it follows */
export function CodeBlock({ lang, text, open }) {
  const name = lang || t('code');
  const pieces = /** @type {CodePiece[] | null} */ (
    useRendered(open || !lang ? null : { kind: 'code', text, lang })
  );
  return (
    <figure class="code-block" aria-label={name}>
      <figcaption>
        <span>{name}</span>
        <CopyButton text={text} label={t('Copy code')} words />
      </figcaption>
      <Scroller as="pre" class="code" label={name}>
        <code>{pieces ? pieces.map(pieceOf) : text}</code>
      </Scroller>
    </figure>
  );
}

/** @param {CodePiece} piece @param {number} index */
function pieceOf([kind, text], index) {
  return kind ? (
    <span key={index} class={`code-${kind}`}>
      {text}
    </span>
  ) : (
    text
  );
}
