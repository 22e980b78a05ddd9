// Formats of strings (JSON Schema 2020-12, validation, section 7.3) as regular expressions: somewhat narrower than the
// documents that define them, so that what is written always is one.

const BYTE = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const DATE =
  '[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))';
const TIME =
  '(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])';
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const HOSTNAME = `${LABEL}(?:\\.${LABEL}){0,3}`;
const GROUP = '[0-9a-fA-F]{1,4}';

/** @type {Readonly<Record<string, string>>} */
export const FORMATS = {
  date: DATE,
  time: TIME,
  'date-time': `${DATE}T${TIME}`,
  duration: 'P(?:[0-9]+W|(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)(?:T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|' +
    '[0-9]+M(?:[0-9]+S)?|[0-9]+S))?|T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S))',
  email: `[A-Za-z0-9!#$%&'*+/=?^_\`{|}~-]{1,32}(?:\\.[A-Za-z0-9!#$%&'*+/=?^_\`{|}~-]{1,31})?@${HOSTNAME}`,
  hostname: HOSTNAME,
  ipv4: `(?:${BYTE}\\.){3}${BYTE}`,
  ipv6: `(?:${GROUP}:){7}${GROUP}|(?:${GROUP}:){1,6}:${GROUP}|::(?:${GROUP}:){0,5}${GROUP}|::|(?:${GROUP}:){1,7}:`,
  uri: "[A-Za-z][A-Za-z0-9+.-]*:(?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?)?(?:/[A-Za-z0-9._~!$&'()*+,;=:@-]*)*" +
    "(?:\\?[A-Za-z0-9._~!$&'()*+,;=:@/-]*)?(?:#[A-Za-z0-9._~!$&'()*+,;=:@/-]*)?",
  uuid: '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}',
};
