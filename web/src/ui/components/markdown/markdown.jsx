import { Component } from 'preact';
import { CodeBlock } from './code_block.jsx';
import { Formula } from './formula.jsx';
import { Scroller } from './scroller.jsx';
import { t } from '../../words/languages/words.js';

/** @typedef {import('../../../markdown/types').Block} Block */
/** @typedef {import('../../../markdown/types').Inline} Inline */

const SIDES = { left: undefined, center: 'centre-cell', right: 'end' };

/**
 * A text's blocks; one that is the same object as before is not looked at again.
 * @param {{blocks: readonly Block[]}} props
 */
export function Markdown({ blocks }) {
  return (
    <div class="text">
      {blocks.map((block, index) => (
        <BlockView key={index} block={block} dir="auto" />
      ))}
    </div>
  );
}

// What lies in a list or a quote goes the way of the whole of it.
/** @typedef {'auto' | undefined} Direction */

/** @extends {Component<{block: Block, dir?: Direction}>} */
class BlockView extends Component {
  /** @param {{block: Block}} next */
  shouldComponentUpdate(next) {
    return next.block !== this.props.block;
  }

  render() {
    return blockOf(this.props.block, this.props.dir);
  }
}

/** @param {Block} block @param {Direction} dir */
function blockOf(block, dir) {
  switch (block.type) {
    case 'paragraph':
      return <p dir={dir}>{inlines(block.children)}</p>;
    case 'heading':
      return headingOf(block, dir);
    case 'code':
      return <CodeBlock lang={block.lang} text={block.text} open={block.open} />;
    case 'formula':
      return <Formula formula={block} />;
    case 'quote':
      return <blockquote dir={dir}>{blocksOf(block.children)}</blockquote>;
    case 'list':
      return listOf(block, dir);
    case 'table':
      return tableOf(block);
    case 'rule':
      return <hr />;
    default:
      return null;
  }
}

/** @param {readonly Block[]} blocks */
function blocksOf(blocks) {
  return blocks.map((block, index) => <BlockView key={index} block={block} />);
}

/**
 * Headings of a message stand below those of the page.
 * @param {Extract<Block, {type: 'heading'}>} block @param {Direction} dir
 */
function headingOf({ level, children }, dir) {
  const content = inlines(children);
  if (level <= 1) return <h2 dir={dir}>{content}</h2>;
  return level === 2 ? <h3 dir={dir}>{content}</h3> : <h4 dir={dir}>{content}</h4>;
}

/** @param {Extract<Block, {type: 'list'}>} list @param {Direction} dir */
function listOf({ ordered, start, items }, dir) {
  const lines = items.map(({ checked, children }, index) => (
    <li key={index} class={checked === null ? undefined : 'task'}>
      {checked !== null && <TaskMark checked={checked} />}
      {blocksOf(children)}
    </li>
  ));
  return ordered ? (
    <ol start={start} dir={dir}>
      {lines}
    </ol>
  ) : (
    <ul dir={dir}>{lines}</ul>
  );
}

/** @param {{checked: boolean}} props */
function TaskMark({ checked }) {
  return (
    <span class="task-mark">
      <span aria-hidden="true">{checked ? '☑' : '☐'}</span>
      <span class="unseen">{checked ? t('Done:') : t('To do:')}</span>
    </span>
  );
}

/** @param {Extract<Block, {type: 'table'}>} table */
function tableOf({ align, header, rows }) {
  const side = (/** @type {number} */ column) => SIDES[align[column] ?? 'left'];
  return (
    <Scroller as="div" class="table-box" label={t('Table')}>
      <table dir="auto">
        <thead>
          <tr>
            {header.map((cell, column) => (
              <th key={column} scope="col" class={side(column)}>
                {inlines(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column} class={side(column)}>
                  {inlines(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroller>
  );
}

/** @param {readonly Inline[]} children @returns {import('preact').ComponentChildren} */
function inlines(children) {
  return children.map(inlineOf);
}

/** @param {Inline} inline @returns {import('preact').ComponentChildren} */
function inlineOf(inline) {
  switch (inline.type) {
    case 'text':
      return inline.text;
    case 'strong':
      return <strong>{inlines(inline.children)}</strong>;
    case 'em':
      return <em>{inlines(inline.children)}</em>;
    case 'strike':
      return <s>{inlines(inline.children)}</s>;
    case 'code':
      return <code>{inline.text}</code>;
    case 'break':
      return <br />;
    case 'formula':
      return <Formula formula={inline} />;
    case 'link':
      return (
        <a href={inline.href} target="_blank" rel="noopener noreferrer">
          {inlines(inline.children)}
        </a>
      );
    default:
      return null;
  }
}
