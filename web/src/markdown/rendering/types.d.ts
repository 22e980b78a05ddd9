// Types of what the rendering worker is asked and answers.

/** An element of MathML, or its text. */
export interface MathTree {
  name: string;
  attributes: Record<string, string>;
  /** As CSSStyleDeclaration names them. */
  style: Record<string, string>;
  children: (MathTree | string)[];
}

/** A run of code, and what it is: one of a few words, '' where it is nothing in particular. */
export type CodePiece = [kind: string, text: string];

export type Job =
  | { kind: 'formula'; text: string; display: boolean }
  | { kind: 'code'; text: string; lang: string };

export type Result = MathTree | CodePiece[] | null;
