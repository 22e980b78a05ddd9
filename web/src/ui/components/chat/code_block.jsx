import { CopyButton } from '../controls/copy_button.jsx';

/** @param {{lang: string | null, text: string}} props */
export function CodeBlock({ lang, text }) {
  const name = lang || 'code';
  return (
    <figure class="code-block" aria-label={name}>
      <figcaption>
        <span>{name}</span>
        <CopyButton text={text} label="Copy code" words />
      </figcaption>
      {/* A part that scrolls must be reachable without a pointer. */}
      <pre tabIndex={0} aria-label={name} role="group">
        <code>{text}</code>
      </pre>
    </figure>
  );
}
