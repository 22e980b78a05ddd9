/**
 * Says in classes at which side of a box more can be scrolled to (`more-left`, `more-right`), and lets a
 * keyboard reach a box that scrolls.
 * @param {HTMLElement} box
 * @returns {() => void} stops it
 */
export function markEdges(box) {
  const mark = () => {
    const { scrollLeft, scrollWidth, clientWidth } = box;
    const scrolls = scrollWidth > clientWidth + 1;
    box.classList.toggle('more-left', scrolls && scrollLeft > 1);
    box.classList.toggle('more-right', scrolls && scrollLeft + clientWidth < scrollWidth - 1);
    if (box.tabIndex !== (scrolls ? 0 : -1)) box.tabIndex = scrolls ? 0 : -1;
  };
  const watch = new ResizeObserver(mark);
  watch.observe(box);
  for (const child of box.children) watch.observe(child);
  box.addEventListener('scroll', mark, { passive: true });
  // A box of a message that is out of sight is not observed.
  mark();
  return () => {
    watch.disconnect();
    box.removeEventListener('scroll', mark);
  };
}
