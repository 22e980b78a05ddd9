// Types of a chat and its parts.
import type { FormChoice, Message, NoiseChoice, RedactionChoice } from '../../types/gatelink';

/** What may stand in a chat's `params` and a reply's `stats`: JSON of bounded size. */
export type Plain = null | boolean | number | string | Plain[] | { [key: string]: Plain };

/** From the first to behind the last, in Unicode code points. */
export type Range = [start: number, stop: number];

/**
 * What of a message's text does not travel, in order and apart, whether no policy drops any of it, and how much replies
 * looked at it (docs/brightness.md). `sent`: as of a ChatNode.
 */
export interface Kept extends Message {
  sent?: string;
  dropped?: Range[];
  pinned?: boolean;
  brightness?: string;
}

/** A value that does not leave the device, and what stands for it there (web/src/redaction/entries.js). */
export interface Entry {
  kind: string;
  key: string;
  value: string;
  surrogate: string;
  rule: string;
}

/** How the values of a chat become surrogates. */
export interface Redaction extends RedactionChoice {
  /** 32 bytes in hex. */
  secret: string;
  entries: Entry[];
  /** Messages, of all branches, that were there before it was switched on, and may have gone out as they are. */
  before: number;
}

/** What happens when the context is full; `budget` in tokens, null: all that the model has. */
export interface ContextChoice {
  policy: 'ask' | 'oldest' | 'dimmest' | 'pinned';
  budget: number | null;
}

export interface ChatNode {
  id: string;
  parent: string | null;
  role: 'user' | 'assistant';
  content: string;
  /** What the model wrote, of which redaction has made the content; missing: the content. */
  sent?: string;
  /** Ids of its versions of what follows, the oldest first. */
  children: string[];
  /** Milliseconds since 1970. */
  created: number;
  stats?: Record<string, Plain>;
  /** How much replies looked at its content, by code point (docs/brightness.md); missing: as it began. */
  brightness?: string;
  /** Why a reply ended; 'interrupted': the page died while it streamed; 'edited': a person has changed it. */
  reason?: string;
  /** Ranges of its text that are kept here and not given to the model; missing: none. */
  dropped?: Range[];
  /** Whether no policy drops any of it. */
  pinned?: boolean;
  /**
   * What is dropped on the branches through this message of those before it, by their ids (`system`: of the system
   * prompt), where it is not what they say themselves; missing: nothing is other.
   */
  above?: Record<string, Range[]>;
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
  /** Whether values in it become surrogates before they leave; null or missing: never yet. */
  redaction?: Redaction | null;
  /** What its replies have to be; null or missing: they are free. */
  form?: FormChoice | null;
  /** What happens when its context is full; null or missing: it is asked. */
  context?: ContextChoice | null;
  /** As of a message, of the system prompt. */
  systemDropped?: Range[];
  systemPinned?: boolean;
  systemBrightness?: string;
  /** Whether it stands before the others; missing: it does not. */
  pinned?: boolean;
  /** Name of the folder that it lies in; missing or '': in none. */
  folder?: string;
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
  /** By which name of the server's; null: its first; missing: it is not known. */
  served?: string | null;
  /** Which save it was loaded from, carried along by every change; missing: it was made here. */
  revision?: number;
}

export interface ChatSummary {
  id: string;
  title: string;
  updated: number;
  /** Messages in all branches. */
  count: number;
  pinned?: boolean;
  folder?: string;
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
