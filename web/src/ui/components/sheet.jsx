import { useLayoutEffect, useRef } from 'preact/hooks';
import { IconButton } from './controls/icon.jsx';
import { Toasts } from './toasts.jsx';
import { t } from '../words/languages/words.js';

/**
 * A dialog above the page. The browser keeps the focus inside and closes it with Escape; at the end the
 * focus is where it was before.
 * @param {{label: string, class: string, onClose: () => void,
 *   children: import('preact').ComponentChildren}} props
 */
export function Modal({ label, class: kind, onClose, children }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => {
    const opener = /** @type {HTMLElement | null} */ (document.activeElement);
    const shown = dialog.current;
    shown?.showModal();
    // The title, so that a reader hears where it is, and no keyboard comes up.
    /** @type {HTMLElement | null | undefined} */ (shown?.querySelector('h2'))?.focus();
    return () => {
      shown?.close();
      // A dialog that is taken out of the page does not always give the focus back.
      if (opener?.isConnected) opener.focus({ preventScroll: true });
    };
  }, []);
  const outside = (/** @type {MouseEvent} */ event) => {
    if (event.target === dialog.current) onClose();
  };
  const cancelled = (/** @type {Event} */ event) => {
    event.preventDefault();
    onClose();
  };
  return (
    <dialog ref={dialog} class={kind} aria-label={label} onClick={outside} onCancel={cancelled}>
      {children}
      <Toasts />
    </dialog>
  );
}

/**
 * @param {{title: string, onClose: () => void, children: import('preact').ComponentChildren,
 *   head?: import('preact').ComponentChildren}} props head: stays above what scrolls
 */
export function Sheet({ title, onClose, children, head = null }) {
  return (
    <Modal label={title} class="sheet" onClose={onClose}>
      <header>
        <h2 tabIndex={-1}>
          {title}
        </h2>
        <IconButton icon="close" label={t('Close')} onClick={onClose} />
      </header>
      {head}
      {/* A part that scrolls must be reachable without a pointer. */}
      <div class="body" tabIndex={0} role="group" aria-label={title}>
        {children}
      </div>
    </Modal>
  );
}
