// datetime.strftime in the C locale, for the date that a chat template asks for.

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
];
const MILLISECONDS_OF_DAY = 86_400_000;

/** @param {number} value @param {number} [digits] */
const padded = (value, digits = 2) => String(value).padStart(digits, '0');

/** @type {Record<string, (date: Date) => string>} */
const DIRECTIVES = {
  a: (date) => DAYS[date.getDay()].slice(0, 3),
  A: (date) => DAYS[date.getDay()],
  b: (date) => MONTHS[date.getMonth()].slice(0, 3),
  B: (date) => MONTHS[date.getMonth()],
  d: (date) => padded(date.getDate()),
  e: (date) => String(date.getDate()).padStart(2, ' '),
  f: (date) => padded(date.getMilliseconds() * 1000, 6),
  H: (date) => padded(date.getHours()),
  I: (date) => padded(date.getHours() % 12 || 12),
  j: (date) => padded(dayOfYear(date), 3),
  m: (date) => padded(date.getMonth() + 1),
  M: (date) => padded(date.getMinutes()),
  p: (date) => (date.getHours() < 12 ? 'AM' : 'PM'),
  S: (date) => padded(date.getSeconds()),
  w: (date) => String(date.getDay()),
  y: (date) => padded(date.getFullYear() % 100),
  Y: (date) => String(date.getFullYear()),
  z: () => '',
  Z: () => '',
  '%': () => '%',
};
DIRECTIVES.h = DIRECTIVES.b;
DIRECTIVES.F = (date) => strftime(date, '%Y-%m-%d');
DIRECTIVES.T = (date) => strftime(date, '%H:%M:%S');
DIRECTIVES.R = (date) => strftime(date, '%H:%M');
DIRECTIVES.D = (date) => strftime(date, '%m/%d/%y');
DIRECTIVES.c = (date) => strftime(date, '%a %b %e %H:%M:%S %Y');
DIRECTIVES.x = DIRECTIVES.D;
DIRECTIVES.X = DIRECTIVES.T;

/**
 * @param {Date} date in the user's own time zone
 * @param {string} form unknown directives stay
 */
export function strftime(date, form) {
  return form.replace(/%(-?)([a-zA-Z%])/g, (whole, dash, letter) => {
    if (!Object.hasOwn(DIRECTIVES, letter)) return whole;
    const value = DIRECTIVES[letter](date);
    return dash ? value.replace(/^[0 ]+(?=.)/, '') : value;
  });
}

/** @param {Date} date */
function dayOfYear(date) {
  const day = Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
  return Math.round((day - Date.UTC(date.getFullYear(), 0, 0)) / MILLISECONDS_OF_DAY);
}
