import { useApp } from '../context.jsx';

/** Stands below a reply that was asked for again and would be the same. @param {{node: string}} props */
export function Repeating({ node }) {
  const app = useApp();
  return (
    <div class="repeating" role="status">
      {app.repeating.value === node && (
        <>
          <p class="ended">At temperature 0 another reply is the same one.</p>
          <div class="row">
            <button type="button" class="button primary" onClick={() => app.regenerate(node, 'varied')}>
              Vary it
            </button>
            <button type="button" class="button" onClick={() => app.regenerate(node, 'as_set')}>
              The same again
            </button>
          </div>
        </>
      )}
    </div>
  );
}
