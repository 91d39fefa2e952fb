/** Steps of owners and editors. Apart from step.ts, so that the first page need not load it. */
import type { FlowView } from '@stoa/api';

/** Whether an owner or editor signs in. Their account is the same at all sites: an authenticator may name another one. */
export const isOfOperator = ({ kind }: FlowView): boolean => kind === 'OWNER_SIGN_IN' || kind === 'OWNER_SETUP';
