const PRESS_MS = 450;
// A finger is never quite still.
const STILL_PX = 10;

/**
 * Handlers of an element that is held down with a finger. Text that is selected by it stays selected.
 * @param {() => void} run
 * @param {{later?: (run: () => void, ms: number) => any, never?: (timer: any) => void}} [clock]
 */
export function longPress(run, { later = setTimeout, never = clearTimeout } = {}) {
  /** @type {{x: number, y: number, timer: any} | null} */
  let down = null;
  const end = () => {
    if (down) never(down.timer);
    down = null;
  };
  const begin = (/** @type {Pick<PointerEvent, 'pointerType' | 'clientX' | 'clientY'>} */ event) => {
    end();
    if (event.pointerType === 'mouse') return;
    const timer = later(() => {
      down = null;
      run();
    }, PRESS_MS);
    down = { x: event.clientX, y: event.clientY, timer };
  };
  const moved = (/** @type {Pick<PointerEvent, 'clientX' | 'clientY'>} */ event) => {
    if (down && Math.hypot(event.clientX - down.x, event.clientY - down.y) > STILL_PX) end();
  };
  return { onPointerDown: begin, onPointerMove: moved, onPointerUp: end, onPointerCancel: end };
}
