// Types of a chat and its parts.
import type { FormChoice, NoiseChoice } from '../../types/gatelink';

/** What may stand in a chat's `params` and a reply's `stats`: JSON of bounded size. */
export type Plain = null | boolean | number | string | Plain[] | { [key: string]: Plain };

export interface ChatNode {
  id: string;
  parent: string | null;
  role: 'user' | 'assistant';
  content: string;
  /** Ids of its versions of what follows, the oldest first. */
  children: string[];
  /** Milliseconds since 1970. */
  created: number;
  stats?: Record<string, Plain>;
  /** Why a reply ended; 'interrupted': the page died while it streamed. */
  reason?: string;
}

export interface Chat {
  id: string;
  title: string;
  /** '': none. */
  system: string;
  adapter: string | null;
  /** Whether its replies bring what their tokens attend to; missing: they do not. Not in documents. */
  attention?: boolean;
  /** How its rows are noised; null or missing: they are sent as they are. The key is kept elsewhere. */
  noise?: NoiseChoice | null;
  /** What its replies have to be; null or missing: they are free. */
  form?: FormChoice | null;
  params: Record<string, Plain>;
  /** Milliseconds since 1970. */
  created: number;
  updated: number;
  nodes: Record<string, ChatNode>;
  /** Ids of the versions of the first message, the oldest first. */
  roots: string[];
  /** The last message that is shown; null: none is. */
  leaf: string | null;
  /** Name of the model that answered last; '': none yet. */
  model: string;
  /** Which save it was loaded from, carried along by every change; missing: it was made here. */
  revision?: number;
}

export interface ChatSummary {
  id: string;
  title: string;
  updated: number;
  /** Messages in all branches. */
  count: number;
}

/** A chat that has all words; `line` is the place, `role` who wrote it (null: only the title has them). */
export interface FoundChat extends ChatSummary {
  role: 'user' | 'assistant' | 'system' | null;
  line: string;
}

/** Stored beside a chat, so that a list needs no chats. */
export interface Summary extends ChatSummary {
  /** Grows with every save. */
  revision: number;
  bytes: number;
}
