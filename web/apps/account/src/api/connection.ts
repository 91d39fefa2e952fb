/** What a member who is signed in asks about the identity providers by which they sign in. */
import type { Ask } from './member.ts';
import { isObject, type Answer } from './request.ts';

const PATH = '/_api/identity/v1/connections';

/** A provider that signs the member in. */
export interface Connection {
  /** Of the provider. */
  id: string;
  label: string;
  /** The address that the provider named last. */
  email?: string;
  createdDate: string;
  lastUsedDate?: string;
}

interface Wire extends Omit<Connection, 'id'> {
  idpConnectionId: string;
}

export async function readConnections(ask: Ask): Promise<Answer<Connection[]>> {
  const answer = await ask({ path: PATH, isValue: hasConnections });
  if ('failure' in answer) return answer;
  return { value: answer.value.connections.map(({ idpConnectionId: id, ...others }) => ({ ...others, id })) };
}

/** The provider signs the member in no more. */
export const endConnection = (ask: Ask, id: string): Promise<Answer<object>> =>
  ask({ path: `${PATH}/${encodeURIComponent(id)}`, method: 'DELETE', isValue: isObject });

const hasConnections = (json: unknown): json is { connections: Wire[] } =>
  isObject(json) && Array.isArray(json['connections']);
