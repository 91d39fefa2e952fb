/** What a search tells beside the items: what of them answers, and other words that may be meant. */
import { record } from './error.ts';

/** How much is wanted of the texts that answer a search. */
export interface HighlightOptions {
  /** Fields that are searched, and that the items are shown with; all of these otherwise. */
  readonly fields?: readonly string[];
  /** Characters of a fragment, from 20 to 1,000; 200 otherwise. */
  readonly maxLength?: number;
  /** Fragments of a field, from 1 to 10; 3 otherwise. */
  readonly maxFragments?: number;
}

/** What answers in a field of an item. */
export interface FieldHighlight {
  readonly fieldName: string;
  /** Pieces of the field's text, in its order. */
  readonly fragments: readonly HighlightFragment[];
}

/** A piece of a text. It is text, not markup. */
export interface HighlightFragment {
  /** Joined, their texts are the piece. */
  readonly parts: readonly { readonly text: string; readonly isMatch: boolean }[];
  readonly hasTextBefore: boolean;
  readonly hasTextAfter: boolean;
}

/** Words that may be meant. */
export interface Suggestions {
  /** The expression with the likeliest words in place of some of its own, if there are any. */
  readonly expression?: string;
  /** The words for which there are others, with the likeliest of those first. */
  readonly words: readonly {
    readonly word: string;
    readonly alternatives: readonly { readonly word: string; readonly itemCount: number }[];
  }[];
}

/** @internal What an answer tells beside its items; the server keeps to its own description. */
export interface WireFound {
  readonly highlights: readonly (readonly FieldHighlight[])[] | undefined;
  readonly suggestions: Suggestions | undefined;
}

/** @internal `isHighlighted`: whether highlights were asked for. */
export function foundOf(answer: Record<string, unknown>, isHighlighted: boolean): WireFound {
  const list: readonly unknown[] = Array.isArray(answer['dataItems']) ? answer['dataItems'] : [];
  const of = (item: unknown) => (record(item)['highlights'] ?? []) as readonly FieldHighlight[];
  return {
    highlights: isHighlighted ? list.map(of) : undefined,
    suggestions: answer['suggestions'] as Suggestions | undefined,
  };
}
