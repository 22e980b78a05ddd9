const GROWS = () => CSS.supports('field-sizing', 'content');

/**
 * Gives a field the height of its text, in browsers whose style sheets cannot (`field-sizing` is younger than
 * those that are served). Its borders count, as they are within the height that is set.
 * @param {HTMLTextAreaElement | null} field
 * @param {() => boolean} [grows] whether the style sheet does it
 */
export function fit(field, grows = GROWS) {
  if (!field || grows()) return;
  field.style.height = 'auto';
  field.style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`;
}
