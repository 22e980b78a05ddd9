import type { NoiseChoice, RedactionChoice } from '../../types/gatelink';

export interface Settings {
  theme: 'auto' | 'light' | 'dark';
  /** Sampling: null is what the model's manifest says, else the sampler's default. */
  temperature: number | null;
  top_k: number | null;
  top_p: number | null;
  min_p: number | null;
  repetition_penalty: number | null;
  presence_penalty: number | null;
  frequency_penalty: number | null;
  /** Digits of a whole number below 2^64; null: a random one for each reply. */
  seed: string | null;
  /** By token id. */
  logit_bias: Record<string, number> | null;
  max_tokens: number;
  stop: string[];
  /** System message of new chats; '': none. */
  system: string;
  /** null: none; 'auto': by the words of each message; else a name. Of a host: adapters/place.js. */
  adapter: string | null;
  /** Noise of new chats; null: none was ever chosen. */
  noise: NoiseChoice | null;
  /** What new chats begin to redact; null: nothing. */
  redaction: RedactionChoice | null;
  /** Which of the server's models; null: its first. */
  model: string | null;
  transport: 'auto' | 'websocket' | 'http';
  /** What Enter does in the message field; auto: it sends, and from a touch keyboard begins a new line. */
  enter: 'auto' | 'sends' | 'breaks';
  /** Whether the server keeps what it computed of a chat once its session has ended. */
  server_cache: 'exact' | 'int8' | 'off';
  /** Whether the server is sent guesses at what follows, where that saves time. */
  drafts: 'auto' | 'off';
  /** What guesses go by besides the chat itself: its own replies, or those of all chats with this server. */
  draft_memory: 'chat' | 'server';
  /** Of all text of the page, beside what the browser makes of it. */
  text_size: 'small' | 'normal' | 'large' | 'huge';
  /** Of the page's own words; auto: the first of the browser's that it has. */
  language: 'auto' | 'en' | 'de';
  /** Whether a reply that ends while the page is not seen is told of, without its text. */
  notify: boolean;
}
