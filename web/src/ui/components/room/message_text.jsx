import { segments } from '../../../chats/context/ranges.js';
import { shownReply } from '../../words/form.js';
import { useBlocks } from '../../view/blocks.js';
import { Markdown } from '../markdown/markdown.jsx';
import { Dropped } from './dropped.jsx';
import { LongText } from './long_text.jsx';
import { t } from '../../words/languages/words.js';

/** @typedef {import('../../../chats/types').ChatNode} ChatNode */
/** @typedef {import('../../../chats/types').Range} Range */

// A message with more of them, as nobody makes by hand, says so once.
const MOST_DROPPED = 100;

/** The text of a message of the user; of what was left out it says so. @param {{node: ChatNode}} props */
export function UserText({ node }) {
  const { id, content, dropped } = node;
  if (!dropped?.length) return <LongText text={content} />;
  if (dropped.length > MOST_DROPPED) return <Scattered>{content}</Scattered>;
  return (
    <>
      {segments(content, dropped).map(({ text, range }, index) =>
        range ? (
          <Dropped key={index} node={id} range={range}>
            {text}
          </Dropped>
        ) : (
          <div key={index}>{text}</div>
        ),
      )}
    </>
  );
}

/** The text of a reply. @param {{node: ChatNode}} props */
export function ReplyText({ node }) {
  const { id, content, stats, dropped } = node;
  const shown = shownReply(content, stats?.form);
  if (!dropped?.length) return <Text text={shown} />;
  if (dropped.length > MOST_DROPPED) return <Scattered><Text text={shown} /></Scattered>;
  // What is shown as something else has no places of its own.
  const parts = shown === content ? segments(content, dropped) : [{ text: shown, range: dropped[0] }];
  return (
    <>
      {parts.map(({ text, range }, index) =>
        range ? (
          <Dropped key={index} node={id} range={range}>
            <Text text={text} />
          </Dropped>
        ) : (
          <Text key={index} text={text} />
        ),
      )}
    </>
  );
}

/** @param {{children: import('preact').ComponentChildren}} props */
function Scattered({ children }) {
  return (
    <>
      {children}
      <p class="ended">{t('Many parts of this message are left out of the context.')}</p>
    </>
  );
}

/** @param {{text: string}} props */
function Text({ text }) {
  return <Markdown blocks={useBlocks(text, false)} />;
}
