import { useState } from 'react';
import { PasswordField } from '@stoa/ui/PasswordField';
import { StepHead } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { shortPassword } from './SignUp.tsx';
import { missing, siteName, type StepProps } from './step.ts';
import { StepForm } from './StepForm.tsx';

/** Recovery, a forced reset, and the first password of a person who runs the site. */
export function NewPassword({ view, step, flow }: StepProps<'NEW_PASSWORD'>) {
  const text = useText();
  const site = siteName(view, text);
  const setup = view.kind === 'OWNER_SETUP';
  const [password, setPassword] = useState('');
  const least = step.passwordMinLength;
  return (
    <>
      <StepHead title={setup ? text.ownerSetupTitle : text.newPasswordTitle} site={site}>
        {setup
          ? text.ownerSetupText({ site })
          : step.emailHint != null
            ? text.passwordFor({ account: step.emailHint })
            : null}
      </StepHead>
      <StepForm
        view={view}
        flow={flow}
        submit={text.savePassword}
        fields={['password']}
        passwordMinLength={least}
        check={() => ({ ...shortPassword(password, least), ...missing({ password }) })}
        onSubmit={() => {
          flow.send({ type: 'NEW_PASSWORD', password });
        }}
      >
        {(errorAt) => (
          <>
            {setup && step.emailHint != null && (
              <p className="step-quiet">{text.passwordFor({ account: step.emailHint })}</p>
            )}
            <PasswordField
              label={setup ? text.choosePassword : text.newPassword}
              name="password"
              autoComplete="new-password"
              isRequired
              showLabel={text.showPassword}
              hideLabel={text.hidePassword}
              help={text.passwordLength({ n: least })}
              value={password}
              onChange={setPassword}
              error={errorAt('password')}
            />
          </>
        )}
      </StepForm>
    </>
  );
}
