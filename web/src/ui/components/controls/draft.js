import { useState } from 'preact/hooks';

/**
 * What stands in a field while it is typed into: each state that can be read is taken over at once, and
 * what cannot stays as it was typed, with the reason.
 * @template T
 * @param {string} text what stands there otherwise
 * @param {(text: string) => import('../../words/sampling.js').Read<T>} read
 * @param {(value: T) => void} onChange
 */
export function useDraft(text, read, onChange) {
  const [draft, setDraft] = useState(/** @type {string | null} */ (null));
  const [problem, setProblem] = useState('');
  return {
    value: draft ?? text,
    problem,
    typed: (/** @type {string} */ typed) => {
      const result = read(typed);
      setDraft(typed);
      setProblem('problem' in result ? result.problem : '');
      if ('value' in result) onChange(result.value);
    },
    /** The field was left, or reset. */
    left: (reset = false) => {
      if (!problem || reset) setDraft(null);
      if (reset) setProblem('');
    },
  };
}
