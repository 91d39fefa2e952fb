import { Suspense, lazy, useEffect, useRef } from 'react';
import type { FlowView, Step } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import { Callout } from '@stoa/ui/Callout';
import { Link } from '@stoa/ui/Link';
import { LoadingState } from '@stoa/ui/States';
import type { Failure } from '../api/request.ts';
import { isSafeUrl } from '../flow/leave.ts';
import { startUrl } from '../flow/route.ts';
import type { Flow } from '../flow/useFlow.ts';
import { TITLE_ID } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { problemText } from '../text/problems.ts';
import { SignIn } from './SignIn.tsx';
import { focusFirstProblem, siteName } from './step.ts';

// Sign-in is what the first page usually shows; the rest comes once it stands.
const later = () => import('./later.ts');
const LaterStep = lazy(() => later().then((it) => ({ default: it.LaterStep })));

/** The page of one step. */
export function StepPage({ view, flow, linkIsOver }: { view: FlowView; flow: Flow; linkIsOver: boolean }) {
  const text = useText();
  // A page keeps what was typed for as long as the question is the same.
  const key = view.step.type;
  useEffect(() => {
    const timer = setTimeout(() => {
      later().catch(() => undefined);
    }, 500);
    return () => {
      clearTimeout(timer);
    };
  }, []);
  return (
    <>
      <div className="step-callout">
        {linkIsOver && ['RECOVER_REQUEST', 'SIGN_IN'].includes(view.step.type) && (
          <Callout tone="warn">{text.problem.link}</Callout>
        )}
        {flow.failure && <FailureNote failure={flow.failure} flow={flow} />}
      </div>
      <Suspense fallback={<LoadingState level={1} label={text.loading} />}>
        <div key={key}>{pageOf(view, flow)}</div>
        <Arrival question={key} view={view} round={flow.round} />
      </Suspense>
    </>
  );
}

function pageOf(view: FlowView, flow: Flow) {
  const { step } = view;
  return step.type === 'SIGN_IN' ? (
    <SignIn view={view} step={step} flow={flow} />
  ) : (
    <LaterStep view={view} step={step} flow={flow} />
  );
}

/** Puts the focus where the person goes on: the wrong field, else the first field of a new page, else its heading. Stands
 * beside the page, so that it acts when the page is there and not while its code is being fetched. */
function Arrival({ question, view, round }: { question: string; view: FlowView; round: number }) {
  const shown = useRef({ question: '', round: -1 });
  useEffect(() => {
    const before = shown.current;
    shown.current = { question, round };
    if (before.question === question) {
      if (before.round !== round && view.problems.some((it) => it.field != null)) focusFirstProblem();
      return;
    }
    const first = round <= 1;
    if (first && (self !== top || !matchMedia('(hover: hover)').matches)) return;
    const frame = requestAnimationFrame(focusQuestion);
    return () => {
      cancelAnimationFrame(frame);
    };
  }, [question, view, round]);
  return null;
}

function focusQuestion() {
  const inputs = [...document.querySelectorAll<HTMLInputElement>('main input:not([type="checkbox"])')];
  (inputs.find((it) => it.value === '') ?? inputs[0] ?? document.getElementById(TITLE_ID))?.focus();
}

/** A request failed while a page was open: the page stays, with all that was typed, and says so above. */
function FailureNote({ failure, flow }: { failure: Failure; flow: Flow }) {
  const text = useText();
  switch (failure.why) {
    case 'offline':
      return (
        <Callout tone="warn" announce="alert" title={text.offlineTitle}>
          <p>{text.offlineText}</p>
        </Callout>
      );
    case 'expired':
      return (
        <Callout tone="warn" announce="alert" title={text.expiredTitle}>
          <p>{text.expiredText}</p>
          <p>
            <Link href={startUrl(flow.start)}>{text.startAgain}</Link>
          </p>
        </Callout>
      );
    case 'refused':
      return (
        <Callout tone="bad" announce="alert">
          <p>{problemText(text, failure.code, failure.message) || text.brokenText}</p>
        </Callout>
      );
    case 'broken':
      return (
        <Callout tone="bad" announce="alert" title={text.brokenTitle}>
          <p>{text.brokenText}</p>
          {failure.requestId !== null && <p className="step-reference">{text.requestId({ id: failure.requestId })}</p>}
          <p>
            <Button variant="link" onPress={flow.refresh}>
              {text.tryAgain}
            </Button>
          </p>
        </Callout>
      );
  }
}

const ENDS: ReadonlySet<Step['type']> = new Set(['REDIRECT', 'POST_MESSAGE', 'DONE', 'FAILED', 'CONFIRM_SIGN_OUT']);

/** Back and away, where the server allows them; stands below the card. */
export function WaysOut({ view, flow }: { view: FlowView; flow: Flow }) {
  const text = useText();
  if (ENDS.has(view.step.type)) return null;
  const cancel = view.cancelUrl != null && isSafeUrl(view.cancelUrl);
  if (!view.canGoBack && !cancel) return null;
  return (
    <div className="account-ways">
      {view.canGoBack && (
        <Button
          variant="link"
          onPress={() => {
            flow.send({ type: 'BACK' });
          }}
        >
          {text.back}
        </Button>
      )}
      {cancel && (
        <Button
          variant="link"
          onPress={() => {
            flow.send({ type: 'CANCEL' });
          }}
        >
          {text.returnTo({ site: siteName(view, text) })}
        </Button>
      )}
    </div>
  );
}
