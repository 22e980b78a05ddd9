// Words of what was redacted.
import { t, tn } from './languages/words.js';

/** @param {string} kind of an entry of the map */
export function kindWord(kind) {
  switch (kind) {
    case 'given': return t('First name');
    case 'family': return t('Surname');
    case 'phone': return t('Phone number');
    case 'email': return t('E-mail address');
    case 'street': return t('Street');
    case 'place': return t('Place');
    case 'card': return t('Card number');
    case 'id': return t('National id');
    case 'date': return t('Date');
    default: return 'IBAN';
  }
}

/** @param {number} count of values that are replaced */
export function replacedWords(count) {
  return count ? tn(count, '{n} value replaced', '{n} values replaced') : t('Nothing replaced');
}
