// json.dumps of Python: its spaces, its numbers, its escapes.
import { TemplateError } from './errors.js';
import { compare, floatText, isTrue, PyFloat, text, typeName } from './values.js';

/** @typedef {import('./values.js').Value} Value */
/**
 * @typedef {object} JsonStyle
 * @property {boolean} ascii
 * @property {string | null} indent
 * @property {string} between items
 * @property {string} after a key
 * @property {boolean} sorted
 */

const BEYOND_ASCII = /[\u007f-\uffff]/g;
const MAX_INDENT = 100;

/** @param {Value} value @param {Record<string, Value>} options as the filter tojson takes them */
export function toJson(value, { ensure_ascii: ascii, indent, separators, sort_keys: sorted }) {
  const step =
    typeof indent === 'number' ? ' '.repeat(Math.min(Math.max(indent, 0), MAX_INDENT)) : (indent ?? null);
  const [between, after] = separators ?? [step === null ? ', ' : ',', ': '];
  return written(value, { ascii: isTrue(ascii), indent: step, between, after, sorted: isTrue(sorted) }, '\n');
}

/**
 * @param {Value} value
 * @param {JsonStyle} style
 * @param {string} line the line break and indent of this level
 * @returns {string}
 */
function written(value, style, line) {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return String(value);
  if (typeof value === 'string') return string(value, style);
  if (value instanceof PyFloat) return number(value.value);
  if (Array.isArray(value))
    return list(
      '[',
      ']',
      value.map((item) => written(item, style, inner(line, style))),
      style,
      line,
    );
  if (!(value instanceof Map)) throw new TemplateError(`${typeName(value)} is not for JSON`);
  const entries = [...value];
  if (style.sorted) entries.sort(([a], [b]) => compare(a, b));
  const members = entries.map(([key, item]) => {
    return string(keyText(key), style) + style.after + written(item, style, inner(line, style));
  });
  return list('{', '}', members, style, line);
}

/** @param {string} line @param {JsonStyle} style */
function inner(line, style) {
  return line + (style.indent ?? '');
}

/**
 * @param {string} open
 * @param {string} close
 * @param {string[]} parts
 * @param {JsonStyle} style
 * @param {string} line
 * @returns {string}
 */
function list(open, close, parts, style, line) {
  if (parts.length === 0 || style.indent === null) return open + parts.join(style.between) + close;
  const start = inner(line, style);
  return open + start + parts.join(style.between + start) + line + close;
}

/** @param {string} value @param {JsonStyle} style */
function string(value, style) {
  const quoted = JSON.stringify(value);
  return style.ascii ? quoted.replace(BEYOND_ASCII, escaped) : quoted;
}

/** @param {string} unit */
function escaped(unit) {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** @param {Value} key */
function keyText(key) {
  if (key === null || typeof key === 'boolean') return String(key);
  return key instanceof PyFloat ? number(key.value) : text(key);
}

/** @param {number} value */
function number(value) {
  if (Number.isFinite(value)) return floatText(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
}
