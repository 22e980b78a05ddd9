import { useApp } from './context.jsx';

export function Toasts() {
  const app = useApp();
  return (
    <div class="toasts" role="status">
      {app.toasts.shown.value.map(({ id, text, action }) => (
        <div class="toast" key={id}>
          <p>{text}</p>
          {action && (
            <button type="button" onClick={action.run}>
              {action.label}
            </button>
          )}
        </div>
      ))}
    </div>
  );
}
