import { useState } from 'react';
import { Button } from '@stoa/ui/Button';
import { PasswordField } from '@stoa/ui/PasswordField';
import { StepHead } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { EmailField, useEmail } from './EmailField.tsx';
import { ProfileFields, profileInput, requiredValues, type ProfileValues } from './ProfileFields.tsx';
import { ProviderButtons } from './ProviderButtons.tsx';
import { missing, siteName, type LocalProblems, type StepProps } from './step.ts';
import { StepForm } from './StepForm.tsx';

export function SignUp({ view, step, flow }: StepProps<'SIGN_UP'>) {
  const text = useText();
  const site = siteName(view, text);
  const [email, setEmail] = useEmail(step.email);
  const [password, setPassword] = useState('');
  const [profile, setProfile] = useState<ProfileValues>({});
  const least = step.passwordMinLength;
  // The first person who runs a site says here who they are; everyone else is invited by address.
  const setup = view.kind === 'OWNER_SETUP';
  return (
    <>
      <StepHead title={setup ? text.ownerFirstTitle : text.signUpTitle} site={site}>
        {setup ? text.ownerSetupText({ site }) : text.signUpText({ site })}
      </StepHead>
      <StepForm
        view={view}
        flow={flow}
        submit={text.signUp}
        fields={['email', 'password', ...step.fields.map((it) => it.name)]}
        passwordMinLength={least}
        check={() => ({
          ...shortPassword(password, least),
          ...missing({ email, password, ...requiredValues(step.fields, profile) }),
        })}
        onSubmit={(captcha) => {
          flow.send({ type: 'SIGN_UP', email: email.trim(), password, profile: profileInput(profile), captcha });
        }}
      >
        {(errorAt) => (
          <>
            <EmailField value={email} onChange={setEmail} error={errorAt('email')} />
            <ProfileFields fields={step.fields} values={profile} onChange={setProfile} errorAt={errorAt} />
            <PasswordField
              label={text.choosePassword}
              name="password"
              autoComplete="new-password"
              showLabel={text.showPassword}
              hideLabel={text.hidePassword}
              isRequired
              help={text.passwordLength({ n: least })}
              value={password}
              onChange={setPassword}
              error={errorAt('password')}
            />
          </>
        )}
      </StepForm>
      <ProviderButtons providers={step.providers} flow={flow} />
      {!setup && (
        <p className="step-aside">
          <span>{text.haveAccount}</span>
          <Button
            variant="link"
            onPress={() => {
              flow.send({ type: 'SWITCH', to: 'SIGN_IN', email: email.trim() || null });
            }}
          >
            {text.signIn}
          </Button>
        </p>
      )}
    </>
  );
}

/** Characters are counted as people count them, not as JavaScript stores them. */
export function shortPassword(password: string, least: number): LocalProblems {
  return [...password].length < least ? { password: 'PASSWORD_TOO_SHORT' } : {};
}
