/** Stages of a pipeline, as the server reads them (docs/protocol/content.md §3.11). */
import type { WireFilter } from './filter.ts';
import type { WireSort } from './order.ts';

/** A value that is worked out for each item. */
export type Expression =
  | { readonly fieldPath: string }
  | { readonly text: string }
  | { readonly numeric: number }
  | { readonly [Name in 'add' | 'multiply' | 'concat']?: { readonly expressions: readonly Expression[] } }
  | {
      readonly [Name in 'subtract' | 'divide' | 'mod']?: {
        readonly firstExpression: Expression;
        readonly secondExpression: Expression;
      };
    }
  | {
      readonly [Name in 'abs' | 'floor' | 'ceil' | 'stringify' | 'toLower' | 'toUpper' | 'length']?: {
        readonly expression: Expression;
      };
    };

type Operation = 'sum' | 'avg' | 'min' | 'max' | 'first' | 'last' | 'push';

/** What is gathered of the items of a group. Counting them is the `sum` of `{ numeric: 1 }`. */
export type Accumulator = { readonly resultFieldName: string } & {
  readonly [Name in Operation]?: { readonly expression: Expression };
};

/** One step on the way from items to results. */
export type Stage =
  | { readonly filter: WireFilter }
  | {
      readonly group: {
        readonly groupIds: readonly { readonly key: string; readonly expression: Expression }[];
        readonly accumulators: readonly Accumulator[];
      };
    }
  | { readonly sort: { readonly values: readonly WireSort[] } }
  | { readonly unwindArray: { readonly arrayFieldName: string } }
  | { readonly limit: number }
  | { readonly skip: number };
