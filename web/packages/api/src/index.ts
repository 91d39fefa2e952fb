/** What the server says on the wire, as types. No code lives here. */
export type * from './flow.ts';
