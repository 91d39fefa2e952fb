import type { ReactNode } from 'react';
import { Callout } from '@stoa/ui/Callout';
import type { Failure } from '../api/request.ts';
import { StepHead } from '../page/StepHead.tsx';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import type { AllTexts } from '../text/later.ts';
import { wrongText } from './problems.ts';
import './my.css';

/** What was done last. */
export interface Done {
  title?: string;
  text: string;
}

export interface FrameProps {
  title: string;
  site: string;
  /** The address of who is signed in. */
  email: string;
  /** The ways to other parts. */
  nav?: ReactNode;
  children: ReactNode;
}

/** The frame of pages on which members and those who run a site look after their account. */
export function Frame({ title, site, email, nav, children }: FrameProps) {
  const text = useAllTexts();
  return (
    <>
      {nav}
      <StepHead title={title} site={site}>
        {text.signedInAs({ name: email })}
      </StepHead>
      {children}
    </>
  );
}

/** What was done, or why it wasn't, above the part that it is about; announced. */
export function Note({ failure, done }: { failure: Failure | null; done: Done | null }) {
  const text = useAllTexts();
  return (
    <div className="step-callout">
      {failure !== null && (
        <Callout tone="bad" announce="alert">
          <p>{failureText(text, failure)}</p>
        </Callout>
      )}
      {failure === null && done !== null && (
        <Callout tone="good" announce="status" {...(done.title === undefined ? {} : { title: done.title })}>
          <p>{done.text}</p>
        </Callout>
      )}
    </div>
  );
}

/** Why a request brought nothing, in a sentence. */
export function failureText(text: AllTexts, { why, code, message }: Failure): string {
  if (why === 'offline') return text.offlineText;
  return wrongText(text, code, message) || text.brokenText;
}
