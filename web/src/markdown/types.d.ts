// Types of parsed markdown: plain objects that a view can show without trusting anything in them.

/** TeX, which a view may show as MathML; open: its end has not come yet, so that it is the source as it stands. */
export interface Formula {
  type: 'formula';
  tex: string;
  /** On lines of its own. */
  display: boolean;
  open: boolean;
}

export type Inline =
  | Formula
  | { type: 'text'; text: string }
  | { type: 'strong' | 'em' | 'strike'; children: Inline[] }
  | { type: 'code'; text: string }
  /** http, https or mailto. */
  | { type: 'link'; href: string; children: Inline[] }
  | { type: 'break' };

export interface ListItem {
  /** Of a task list; null: no task. */
  checked: boolean | null;
  children: Block[];
}

export type Align = 'left' | 'center' | 'right' | null;

export type Block =
  | Formula
  | { type: 'paragraph'; children: Inline[] }
  | { type: 'heading'; level: 1 | 2 | 3 | 4 | 5 | 6; children: Inline[] }
  /** open: its end has not come yet. */
  | { type: 'code'; lang: string; text: string; open: boolean }
  /** tight: its items are one line each, so that they need no space between them. */
  | { type: 'list'; ordered: boolean; start: number; tight: boolean; items: ListItem[] }
  | { type: 'table'; align: Align[]; header: Inline[][]; rows: Inline[][][] }
  | { type: 'quote'; children: Block[] }
  | { type: 'rule' };

/** A run of lines that can be read without those around it. */
export interface Segment {
  kind: 'fence' | 'formula' | 'list' | 'other';
  /** Of a formula its TeX; while it is open its source. */
  text: string;
  /** Fences only. */
  lang?: string;
  /** Its end has not come yet. */
  open?: boolean;
  /** Lists only: an item of the list that the segment before is of too. */
  joins?: boolean;
  /** Whether a blank line parts it from the item before. */
  apart?: boolean;
}
