// What passes between the parts of a run: its task, wire shapes that no package has a type for, and
// what the page puts into its window.
import type { collections, items } from '@wix/data';
import type { conformance } from '../page/app.mjs';

/** What the parent process prepared for the process that holds the client packages. */
export interface Run {
  engine: string;
  siteId: string;
  clientId: string;
  /** The client with a secret, as an application has one. */
  secretClientId: string;
  clientSecret: string;
  apiKey: string;
  ownerEmail: string;
  ownerSetupUrl: string;
  /** An identity provider by which members of the site sign in. */
  provider: { issuer: string; clientId: string; clientSecret: string; connectionId: string };
  /** Origin of the website of the run. */
  origin: string;
  redirectUri: string;
  dataDir: string;
  /** Nothing on SQLite. */
  databaseUrl?: string;
  apiPort: number;
  /** The server's public key in the form that Chromium takes. */
  spki: string;
  /** Runs only the rows whose method or check contains the text. */
  only?: string;
}

/** What the process with the client packages gives back. */
export interface Outcome {
  results: import('./runner.mjs').Result[];
  /** Published methods without a row. */
  missing: string[];
}

export interface Credentials {
  email: string;
  password: string;
}

/** What the client packages throw; each layer of them sets other members. */
export interface ClientError extends Error {
  status?: number;
  code?: string;
  requestId?: string;
  details?: {
    applicationError?: { code?: string };
    validationError?: { fieldViolations: FieldViolation[] };
  };
}

export interface FieldViolation {
  field: string;
  description?: string;
  data?: { type?: string };
}

/** A collection as a row gives it; the package's type leaves out `dataPermissions`. */
export type Definition = Partial<collections.DataCollection> & { dataPermissions?: DataPermissions };

export interface DataPermissions {
  itemRead: string;
  itemInsert: string;
  itemUpdate: string;
  itemRemove: string;
}

/** The conditions of the chained builder. The package's types leave some out and forbid some operands. */
interface Conditions<Builder> {
  eq(field: string, value: unknown): Builder;
  ne(field: string, value: unknown): Builder;
  gt(field: string, value: unknown): Builder;
  ge(field: string, value: unknown): Builder;
  gte(field: string, value: unknown): Builder;
  lt(field: string, value: unknown): Builder;
  le(field: string, value: unknown): Builder;
  lte(field: string, value: unknown): Builder;
  between(field: string, start: unknown, end: unknown): Builder;
  startsWith(field: string, value: string): Builder;
  endsWith(field: string, value: string): Builder;
  contains(field: string, value: string): Builder;
  hasSome(field: string, ...values: unknown[]): Builder;
  hasAll(field: string, ...values: unknown[]): Builder;
  in(field: string, values: unknown[]): Builder;
  exists(field: string, flag: boolean): Builder;
  isEmpty(field: string): Builder;
  isNotEmpty(field: string): Builder;
  and(filter: FilterBuilder): Builder;
  or(filter: FilterBuilder): Builder;
  not(filter: FilterBuilder): Builder;
}

export type FilterBuilder = Conditions<FilterBuilder>;

export interface QueryBuilder extends Conditions<QueryBuilder> {
  ascending(...fields: string[]): QueryBuilder;
  descending(...fields: string[]): QueryBuilder;
  fields(...fields: string[]): QueryBuilder;
  limit(count: number): QueryBuilder;
  find(): Promise<items.WixDataResult>;
  count(): Promise<number>;
}

declare global {
  interface Window {
    conformance: typeof conformance;
    /** The client of the website that the page shows. */
    site: ReturnType<typeof conformance.client>;
    /** What came over the channel of a sign-in by a provider. */
    heard?: Promise<{ iv: string; data: string }>;
  }
}
