import { useEffect, useState, type ReactNode } from 'react';
import { Button } from '@stoa/ui/Button';

/** How long a page has to be seen before it takes an answer that gives something away. */
const SEEN_MS = 500;

/**
 * Whether the page has been visible and focused for that long without a break. A press before is one that was meant for
 * what stood in its place, the second of a double click that a page of others has asked for among them.
 */
function useSeen(): boolean {
  const [isSeen, setIsSeen] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const lose = () => {
      clearTimeout(timer);
      setIsSeen(false);
    };
    const look = () => {
      lose();
      if (document.visibilityState !== 'visible' || !document.hasFocus()) return;
      timer = setTimeout(() => {
        setIsSeen(true);
      }, SEEN_MS);
    };
    look();
    document.addEventListener('visibilitychange', look);
    addEventListener('focus', look);
    addEventListener('blur', lose);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
      removeEventListener('focus', look);
      removeEventListener('blur', lose);
    };
  }, []);
  return isSeen;
}

export interface AllowButtonProps {
  children: ReactNode;
  pending: boolean;
  onAllow: () => void;
}

/** The answer that lets an application of others do something: none that was given before the question was seen. */
export function AllowButton({ children, pending, onAllow }: AllowButtonProps) {
  const isSeen = useSeen();
  return (
    <Button
      variant="primary"
      wide
      pending={pending}
      {...(isSeen ? {} : { 'aria-disabled': true })}
      onPress={() => {
        if (isSeen) onAllow();
      }}
    >
      {children}
    </Button>
  );
}
