/** Sign-ins under way: what must be remembered between leaving for the sign-in page and coming back. */

/** One sign-in under way. */
export interface Flow {
  readonly codeVerifier: string;
  readonly redirectUri: string;
  /** What the app gave to `signInUrl`, given back by `handleReturn`. */
  readonly returnTo: string | null;
}

/** Keeps flows by their `state`. */
export interface FlowStore {
  get(state: string): Flow | null;
  set(state: string, flow: Flow): void;
  remove(state: string): void;
}

/** The tab's sessionStorage where there is one, else memory. */
export function defaultFlows(): FlowStore {
  return typeof sessionStorage === 'undefined' ? memoryFlows() : sessionFlows();
}

export function memoryFlows(): FlowStore {
  const flows = new Map<string, Flow>();
  return {
    get: (state) => flows.get(state) ?? null,
    set: (state, flow) => void flows.set(state, flow),
    remove: (state) => void flows.delete(state),
  };
}

function sessionFlows(): FlowStore {
  const key = (state: string) => `stoa.flow.${state}`;
  return {
    get: (state) => {
      const text = sessionStorage.getItem(key(state));
      return text === null ? null : (JSON.parse(text) as Flow);
    },
    set: (state, flow) => sessionStorage.setItem(key(state), JSON.stringify(flow)),
    remove: (state) => sessionStorage.removeItem(key(state)),
  };
}
