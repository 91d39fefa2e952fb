/** A wrong password, where it is asked for without the address. */
import type { FlowView } from '@stoa/api';

const WRONG: ReadonlySet<string> = new Set(['-19976', 'INVALID_CREDENTIALS', 'INVALID_CODE']);

/** The view in which a wrong password is said at its field, and by a sentence that speaks of no address. */
export const withWrong = (view: FlowView, field: string, sentence: string): FlowView => ({
  ...view,
  problems: view.problems.map((it) => (WRONG.has(it.code) ? { field, code: 'WRONG_PASSWORD', message: sentence } : it)),
});
