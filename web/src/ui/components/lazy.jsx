import { useEffect, useState } from 'preact/hooks';

/** @typedef {() => import('preact').JSX.Element} Part */

/**
 * A component in a file of its own, which is loaded when it is first shown.
 * @param {{load: () => Promise<{default: Part}>, onMissing: () => void}} props
 *   onMissing: the file cannot be had
 */
export function Lazy({ load, onMissing }) {
  const [module, setModule] = useState(/** @type {{default: Part} | null} */ (null));
  useEffect(() => void load().then(setModule, onMissing), []);
  return module && <module.default />;
}
