let put = false;

/** Puts the style sheet of the tint on the page. */
export function style() {
  if (put) return;
  put = true;
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = new URL('./tint.css', import.meta.url).href;
  document.head.append(link);
}
