/**
 * `@stoa/client`: visitors, members and collections of a Stoa site, for browsers and Node. No dependencies.
 *
 * Start with {@link createClient}. Everything that fails throws {@link StoaError}.
 * @packageDocumentation
 */
export type { Auth, Member, ResponseMode, SignedIn, SignInOptions } from './auth.ts';
export { type Client, type ClientOptions, createClient } from './client.ts';
export { StoaError, type StoaErrorInit, type Violation } from './error.ts';
export { Conditions, type FieldName, Filter, filter, type Listed, type Ordered, type WireFilter } from './filter.ts';
export { type Flow, type FlowStore, memoryFlows } from './flow-store.ts';
export type { FieldHighlight, HighlightFragment, HighlightOptions, Suggestions } from './found.ts';
export type { Items, System, WriteOptions } from './items.ts';
export type { Json } from './json.ts';
export type { WireSort } from './order.ts';
export { Page, type TurnOptions } from './page.ts';
export { challengeOf, createPkce, type Pkce } from './pkce.ts';
export type { Accumulator, Expression, Stage } from './pipeline.ts';
export { type FindOptions, Query, type ReadOptions, type WireQuery } from './query.ts';
export { Search, type SearchWords, type WireSearch } from './search.ts';
export type {
  Change,
  SubscribeOptions,
  Subscription,
  SubscriptionHandlers,
  SubscriptionStatus,
} from './subscription.ts';
export { localStorageTokens, memoryTokens, noTokens, type Role, type Tokens, type TokenStore } from './tokens.ts';
export type { Fetch } from './transport.ts';
