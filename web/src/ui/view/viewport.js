/**
 * Gives the page the height that a virtual keyboard leaves. Chromium does that by itself
 * (interactive-widget); Safari only moves the page, so that its height is followed.
 */
export function followViewport() {
  const view = window.visualViewport;
  if (!view) return;
  const fit = () => {
    const root = document.documentElement;
    const covered = window.innerHeight - view.height;
    // Small differences are the browser's bars, which dvh knows already; a zoomed page is the reader's wish.
    if (covered > 120 && view.scale < 1.05) root.style.setProperty('--app-height', `${view.height}px`);
    else root.style.removeProperty('--app-height');
    if (view.scale < 1.05) window.scrollTo(0, 0);
  };
  view.addEventListener('resize', fit);
}
