import { type ReactNode, createContext, useCallback, useContext, useState } from 'react';

const Announce = createContext<(text: string) => void>(() => undefined);

/** Says a sentence to people who do not see the page change. */
export const useAnnounce = () => useContext(Announce);

export function Announcer({ children }: { readonly children: ReactNode }) {
  const [said, setSaid] = useState({ text: '', turn: 0 });
  const announce = useCallback((text: string) => {
    setSaid(({ turn }) => ({ text, turn: turn + 1 }));
  }, []);
  return (
    <Announce value={announce}>
      {children}
      {/* A new element each time, so that the same sentence is said again. */}
      <div aria-live="polite" className="stoa-hidden">
        <span key={said.turn}>{said.text}</span>
      </div>
    </Announce>
  );
}
