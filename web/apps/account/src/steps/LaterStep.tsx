import type { FlowView, Step } from '@stoa/api';
import type { Flow } from '../flow/useFlow.ts';
import { AwaitApproval } from './AwaitApproval.tsx';
import { AwaitPush } from './AwaitPush.tsx';
import { Decision } from './Decision.tsx';
import { Done, Failed, PostMessage, Redirect } from './End.tsx';
import { Enrolment } from './Enrolment.tsx';
import { LinkProvider } from './LinkProvider.tsx';
import { MissingFields } from './MissingFields.tsx';
import { NewPassword } from './NewPassword.tsx';
import { ProviderFailed } from './ProviderFailed.tsx';
import { RecoverRequest, RecoverSent } from './Recover.tsx';
import { SecondFactor } from './SecondFactor.tsx';
import { SignUp } from './SignUp.tsx';
import { VerifyEmail } from './VerifyEmail.tsx';

export interface LaterStepProps {
  view: FlowView;
  step: Exclude<Step, { type: 'SIGN_IN' }>;
  flow: Flow;
}

/** Every step has its page. A step that is added to the union and not to this switch does not compile. */
export function LaterStep({ step, ...all }: LaterStepProps) {
  switch (step.type) {
    case 'SIGN_UP':
      return <SignUp {...all} step={step} />;
    case 'LINK_PROVIDER':
      return <LinkProvider {...all} step={step} />;
    case 'PROVIDER_FAILED':
      return <ProviderFailed {...all} step={step} />;
    case 'VERIFY_EMAIL':
      return <VerifyEmail {...all} step={step} />;
    case 'AWAIT_APPROVAL':
      return <AwaitApproval {...all} step={step} />;
    case 'AWAIT_PUSH':
      return <AwaitPush {...all} step={step} />;
    case 'MISSING_FIELDS':
      return <MissingFields {...all} step={step} />;
    case 'SECOND_FACTOR':
      return <SecondFactor {...all} step={step} />;
    case 'OFFER_FACTOR':
    case 'ENROL_FACTOR':
    case 'RECOVERY_CODES':
      return <Enrolment {...all} step={step} />;
    case 'RECOVER_REQUEST':
      return <RecoverRequest {...all} step={step} />;
    case 'RECOVER_SENT':
      return <RecoverSent {...all} step={step} />;
    case 'NEW_PASSWORD':
      return <NewPassword {...all} step={step} />;
    case 'CONSENT':
    case 'CONFIRM_SIGN_OUT':
      return <Decision {...all} step={step} />;
    case 'REDIRECT':
      return <Redirect {...all} step={step} />;
    case 'POST_MESSAGE':
      return <PostMessage view={all.view} step={step} />;
    case 'DONE':
      return <Done {...all} step={step} />;
    case 'FAILED':
      return <Failed {...all} step={step} />;
    default:
      return unreachable(step);
  }
}

function unreachable(step: never): never {
  throw new Error(`no page for ${JSON.stringify(step)}`);
}
