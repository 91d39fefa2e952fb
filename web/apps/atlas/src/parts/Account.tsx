import { Button } from '@stoa/ui';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { memberQuery, signIn, signOut, useLoggedIn } from '../api/member.ts';
import { useSite } from '../api/site.ts';
import { useText } from '../text/useText.ts';
import { useAnnounce } from './Announcer.tsx';
import { sentence } from './Failure.tsx';

/** Who is signed in, and the way in or out. */
export function Account() {
  const { stoa } = useSite();
  const loggedIn = useLoggedIn(stoa);
  const { data: member } = useQuery({ ...memberQuery(stoa), enabled: loggedIn });
  const { t } = useText();
  const leave = useLeaving();
  if (!loggedIn) {
    return (
      <div className="account">
        <Button
          size="small"
          pending={leave.pending}
          onPress={() => leave.by(() => signIn(stoa, location.pathname + location.search))}
        >
          {t.account.signIn}
        </Button>
        <Failed text={leave.failure} />
      </div>
    );
  }
  const name = member?.name ?? member?.email;
  return (
    <div className="account">
      {name !== undefined && (
        <span className="account-name" title={t.account.signedInAs({ name })}>
          {name}
        </span>
      )}
      <Button size="small" variant="quiet" pending={leave.pending} onPress={() => leave.by(() => signOut(stoa))}>
        {t.account.signOut}
      </Button>
      <Failed text={leave.failure} />
    </div>
  );
}

/** Why it did not work, below the button; the sentence is announced by useLeaving. */
function Failed({ text }: { readonly text: string | null }) {
  return text === null ? null : <p className="account-failed">{text}</p>;
}

/** Leaving for another page of the server: waits while the address is asked for, and says so when it does not come. */
export function useLeaving() {
  const [pending, setPending] = useState(false);
  const spoken = useText();
  const announce = useAnnounce();
  const [failure, setFailure] = useState<string | null>(null);
  const by = (go: () => Promise<void>) => {
    setPending(true);
    setFailure(null);
    announce(spoken.t.account.leaving);
    go().catch((error: unknown) => {
      setPending(false);
      const message = sentence(error, spoken);
      setFailure(message);
      announce(message);
    });
  };
  return { pending, failure, by };
}
