import { computed } from '@preact/signals';
import { cannotSend, elsewhereWords } from '../words/explain.js';
import { t } from '../words/languages/words.js';

/** Whether something can be sent in the shown chat, and its messages changed. */
export class Readiness {
  /**
   * @param {{connection: import('./connection.js').Connection, library: import('./chats/library.js').Library,
   *   replies: import('./replies.js').Replies, elsewhere: import('./tabs/elsewhere.js').Elsewhere}} needs
   */
  constructor({ connection, library, replies, elsewhere }) {
    /** Whether the shown chat waits for its reply. */
    this.busyHere = computed(() => replies.running.value?.chat === library.chat.value.id);
    /** The same, of any tab. */
    this.fixed = computed(() => this.busyHere.value || elsewhere.writing.value);
    /** Why nothing can be sent now; null: it can. */
    this.hindrance = computed(() => {
      if (this.busyHere.value) return t('A reply is being written.');
      if (replies.running.value) return t('A reply is being written in another chat.');
      return elsewhere.writing.value ? elsewhereWords() : cannotSend(connection.phase.value);
    });
  }
}
