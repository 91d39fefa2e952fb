import { type ReactNode, createContext, useCallback, useContext, useState } from 'react';

const Announce = createContext<(text: string) => void>(() => undefined);

/** Announces a sentence to people who do not see the page change. */
export const useAnnounce = () => useContext(Announce);

export function Announcer({ children }: { readonly children: ReactNode }) {
  const [message, setMessage] = useState({ text: '', count: 0 });
  const announce = useCallback((text: string) => {
    setMessage(({ count }) => ({ text, count: count + 1 }));
  }, []);
  return (
    <Announce value={announce}>
      {children}
      {/* A new element each time, so that the same sentence is announced again. */}
      <div aria-live="polite" className="stoa-hidden">
        <span key={message.count}>{message.text}</span>
      </div>
    </Announce>
  );
}
