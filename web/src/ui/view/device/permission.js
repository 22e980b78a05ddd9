/** Whether the page may tell of a reply while nobody looks at it. */

/** @returns {boolean} whether the browser lets pages like this one tell of anything */
export function canNotify() {
  return isSecureContext && 'Notification' in window;
}

/** Has the browser ask its user, unless it has. @returns {Promise<boolean>} whether it is allowed */
export async function askToNotify() {
  return canNotify() && (await Notification.requestPermission()) === 'granted';
}
