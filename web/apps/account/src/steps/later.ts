/** The usual steps besides sign-in, and what it has of passkeys, in one file that is fetched once the first page stands. */
export { AwaitApproval } from './AwaitApproval.tsx';
export { ConfirmSignOut } from './ConfirmSignOut.tsx';
export { Done, Failed, PostMessage, Redirect } from './End.tsx';
export { Enrolment } from './Enrolment.tsx';
export { MissingFields } from './MissingFields.tsx';
export { NewPassword } from './NewPassword.tsx';
export { PasskeySignIn } from './PasskeySignIn.tsx';
export { RecoverRequest, RecoverSent } from './Recover.tsx';
export { SecondFactor } from './SecondFactor.tsx';
export { SignUp } from './SignUp.tsx';
export { VerifyEmail } from './VerifyEmail.tsx';
