import { useEffect, useState } from 'preact/hooks';

/** @typedef {(props: any) => import('preact').JSX.Element} Part */

/**
 * A component in a file of its own, which is loaded when it is first shown.
 * @param {{load: () => Promise<{default: Part}>, onMissing: () => void, given?: Record<string, any>}} props
 *   onMissing: the file cannot be had; given: its own props
 */
export function Lazy({ load, onMissing, given = {} }) {
  const [module, setModule] = useState(/** @type {{default: Part} | null} */ (null));
  useEffect(() => void load().then(setModule, onMissing), []);
  return module && <module.default {...given} />;
}
