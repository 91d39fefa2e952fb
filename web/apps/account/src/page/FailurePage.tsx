import type { FlowKind } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import { Link } from '@stoa/ui/Link';
import { ErrorState } from '@stoa/ui/States';
import type { Failure } from '../flow/request.ts';
import { problemText } from '../text/problems.ts';
import { useText } from './text.ts';

/** Where a flow of a kind begins anew. */
export function startPath(kind: FlowKind | null): string {
  switch (kind) {
    case 'SIGN_UP': return '/account/sign-up';
    case 'SIGN_OUT': return '/account/sign-out';
    case 'RECOVER': return '/account/recover';
    case 'OWNER_SETUP':
    case 'OWNER_SIGN_IN': return '/account/owner';
    case 'SIGN_IN':
    case 'STEP_UP':
    case null: return '/account/sign-in';
  }
}

/** No view could be had: the whole page says why and what to do. */
export function FailurePage({ failure, kind, onRetry }: { failure: Failure; kind: FlowKind | null; onRetry: () => void }) {
  const text = useText();
  const restart = <Link href={startPath(kind)} variant="primary">{text.startAgain}</Link>;
  const retry = <Button variant="primary" onPress={onRetry}>{text.tryAgain}</Button>;
  switch (failure.why) {
    case 'offline':
      return <ErrorState level={1} title={text.offlineTitle} action={retry}><p>{text.offlineText}</p></ErrorState>;
    case 'expired':
      return <ErrorState level={1} title={text.expiredTitle} action={restart}><p>{text.expiredText}</p></ErrorState>;
    case 'refused':
      return (
        <ErrorState level={1} title={text.failedTitle} action={restart}>
          <p>{problemText(text, failure.code, failure.message) || text.brokenText}</p>
        </ErrorState>
      );
    case 'broken':
      return (
        <ErrorState level={1} title={text.brokenTitle} action={retry}>
          <p>{text.brokenText}</p>
          {failure.requestId !== null && <p className="step-reference">{text.requestId(failure.requestId)}</p>}
        </ErrorState>
      );
  }
}

/** Nobody was asked yet, because the address itself lacks something. */
export function AddressPage({ title, children }: { title: string; children: string }) {
  const text = useText();
  return (
    <ErrorState level={1} title={title} action={<Link href="/account/sign-in" variant="primary">{text.signIn}</Link>}>
      <p>{children}</p>
    </ErrorState>
  );
}
