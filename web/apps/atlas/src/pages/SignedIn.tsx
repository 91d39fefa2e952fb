import { StoaError } from '@stoa/client';
import { Button, ErrorState, LoadingState } from '@stoa/ui';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';

import { ownPath, sitePath } from '../address/site.ts';
import { signIn } from '../api/member.ts';
import { useSite } from '../api/site.ts';
import { useLeaving } from '../parts/Account.tsx';
import { sentence } from '../parts/Failure.tsx';
import { DocumentTitle } from '../parts/Page.tsx';
import { useText } from '../text/useText.ts';

/** Where a person comes back from the sign-in page: finishes, and goes on to where they were. */
export function SignedIn() {
  const spoken = useText();
  const { t } = spoken;
  const { stoa } = useSite();
  const router = useRouter();
  const leave = useLeaving();
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    let gone = false;
    stoa.auth.handleReturn(location.href).then(
      ({ returnTo }) => {
        if (gone) return;
        // Replaced, so that the back button does not lead to a code that is used up.
        router.history.replace(ownPath(returnTo));
      },
      (failure: unknown) => {
        if (!gone) setError(failure);
      },
    );
    return () => {
      gone = true;
    };
  }, [stoa, router]);

  if (error === null) {
    return (
      <div className="page">
        <DocumentTitle title={t.account.signIn} />
        <LoadingState label={t.signedIn.working} />
      </div>
    );
  }
  const code = error instanceof StoaError ? error.code : '';
  const text =
    code === 'INVALID_STATE' || code === 'MISSING_CODE' || code === 'invalid_grant'
      ? t.signedIn.stale
      : code === 'access_denied' || code === 'login_required'
        ? t.signedIn.cancelled
        : sentence(error, spoken);
  return (
    <div className="page">
      <DocumentTitle title={t.signedIn.failed} />
      <ErrorState
        title={t.signedIn.failed}
        level={1}
        action={
          <Button
            variant="primary"
            pending={leave.pending}
            onPress={() => leave.by(() => signIn(stoa, `${sitePath()}/`))}
          >
            {t.signedIn.again}
          </Button>
        }
      >
        {leave.failure ?? text}
      </ErrorState>
    </div>
  );
}
