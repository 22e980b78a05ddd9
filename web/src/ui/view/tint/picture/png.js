import { AppError } from '../../../../common/errors.js';
import { LINE, MARGIN, SIZE } from './layout.js';
import { inkOf } from './svg.js';

const FONT = `${SIZE}px system-ui, sans-serif`;
// Twice as many points as pixels; phones draw no more than about 16 million.
const SHARP = 2;
const MOST_POINTS = 16_000_000;

/** A chat that is too long to be drawn point by point. */
class PictureTooLarge extends AppError {
  constructor() {
    super('picture_too_large', 'the chat is too long for a PNG; export it as SVG');
  }
}

/** How wide a text is drawn. @returns {(text: string) => number} */
export function measuring() {
  const brush = brushOf(document.createElement('canvas'));
  brush.font = FONT;
  return (text) => brush.measureText(text).width;
}

/**
 * @param {import('./layout.js').Layout} layout @param {import('./svg.js').Colours} colours
 * @returns {Promise<Blob>}
 * @throws {PictureTooLarge}
 */
export async function pngOf({ width, height, titles, words }, colours) {
  if (width * height * SHARP ** 2 > MOST_POINTS) throw new PictureTooLarge();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [SHARP * width, SHARP * height];
  const brush = brushOf(canvas);
  brush.scale(SHARP, SHARP);
  brush.fillStyle = colours.page;
  brush.fillRect(0, 0, width, height);
  brush.font = `600 ${FONT}`;
  brush.fillStyle = colours.title;
  for (const { text, y } of titles) brush.fillText(text, MARGIN, y);
  brush.font = FONT;
  for (const word of words) drawn(brush, word, colours);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
  if (!(blob instanceof Blob)) throw new PictureTooLarge();
  return blob;
}

/** @param {CanvasRenderingContext2D} brush @param {import('./layout.js').Word} word @param {import('./svg.js').Colours} colours */
function drawn(brush, word, colours) {
  const { x, y, width, looked, chosen } = word;
  brush.fillStyle = looked ? colours.looked[looked - 1] : 'transparent';
  if (looked) brush.fillRect(x, y - SIZE - 1, width, LINE - 3);
  brush.strokeStyle = colours.dim[0];
  if (chosen) brush.strokeRect(x, y - SIZE - 1, width, LINE - 3);
  brush.fillStyle = inkOf(word, colours);
  brush.fillText(word.text, x, y);
}

/** @param {HTMLCanvasElement} canvas */
function brushOf(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
}
