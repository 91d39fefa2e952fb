import { Suspense, lazy, useState, type ComponentType } from 'react';
import { Button } from '@stoa/ui/Button';
import { PasswordField } from '@stoa/ui/PasswordField';
import { StepHead } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { EmailField, useEmail } from './EmailField.tsx';
import { missing, siteName, type StepProps } from './step.ts';
import { StepForm } from './StepForm.tsx';

/** Without them there is the password. */
const OtherWays = lazy<ComponentType<StepProps<'SIGN_IN'>>>(() =>
  import('./later.ts').then(
    (it) => ({ default: it.OtherWays }),
    () => ({ default: () => null }),
  ),
);

export function SignIn({ view, step, flow }: StepProps<'SIGN_IN'>) {
  const text = useText();
  const site = siteName(view, text);
  const owner = view.kind === 'OWNER_SIGN_IN';
  const [email, setEmail] = useEmail(step.email);
  const [password, setPassword] = useState('');
  const ways = step.passkey ? [step.passkey, ...step.providers] : step.providers;
  return (
    <>
      <StepHead title={owner ? text.ownerSignInTitle({ site }) : text.signInTitle({ site })} site={site}>
        {owner ? text.ownerSignInText : null}
      </StepHead>
      <StepForm
        view={view}
        flow={flow}
        submit={text.signIn}
        fields={['email', 'password', 'passkey']}
        check={() => missing({ email, password })}
        onSubmit={(captcha) => {
          flow.send({ type: 'SIGN_IN', email: email.trim(), password, captcha });
        }}
      >
        {(errorAt) => (
          <>
            <EmailField
              value={email}
              onChange={setEmail}
              error={errorAt('email')}
              autoComplete={step.passkey ? 'username webauthn' : 'username'}
            />
            <PasswordField
              label={text.password}
              name="password"
              autoComplete="current-password"
              showLabel={text.showPassword}
              hideLabel={text.hidePassword}
              isRequired
              value={password}
              onChange={setPassword}
              error={errorAt('password')}
            />
          </>
        )}
      </StepForm>
      {ways.length > 0 && (
        <Suspense
          fallback={ways.map((_, idx) => (
            <div key={idx} className="step-way" />
          ))}
        >
          <OtherWays view={view} step={step} flow={flow} />
        </Suspense>
      )}
      {step.canRecover && (
        <div className="step-ways">
          <Button
            variant="link"
            onPress={() => {
              flow.send({ type: 'SWITCH', to: 'RECOVER', email: email.trim() || null });
            }}
          >
            {text.forgot}
          </Button>
        </div>
      )}
      {step.canSignUp && (
        <p className="step-aside">
          <span>{text.noAccount}</span>
          <Button
            variant="link"
            onPress={() => {
              flow.send({ type: 'SWITCH', to: 'SIGN_UP', email: email.trim() || null });
            }}
          >
            {text.createAccount}
          </Button>
        </p>
      )}
    </>
  );
}
