import { useState } from 'react';
import { Button } from '@stoa/ui/Button';
import { PasswordField } from '@stoa/ui/PasswordField';
import { LoadingState } from '@stoa/ui/States';
import { StepHead } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { WithProviderTexts } from '../page/WithProviderTexts.tsx';
import { AccountName } from '../parts/AccountName.tsx';
import { missing, siteName, type StepProps } from './step.ts';
import { StepForm } from './StepForm.tsx';
import { withWrong } from './wrongPassword.ts';

/** The provider names an address that an account has: who has its password connects the two, this once. */
export function LinkProvider({ view, step, flow }: StepProps<'LINK_PROVIDER'>) {
  const text = useText();
  const [password, setPassword] = useState('');
  const { provider, email } = step;
  return (
    <WithProviderTexts waiting={<LoadingState level={1} label={text.loading} />}>
      {(texts) => (
        <>
          <StepHead title={texts.linkTitle({ provider })} site={siteName(view, text)}>
            {texts.linkText({ provider, email })}
          </StepHead>
          <StepForm
            view={withWrong(view, 'password', texts.wrongPassword)}
            flow={flow}
            submit={texts.link}
            fields={['password']}
            check={() => missing({ password })}
            onSubmit={(captcha) => {
              flow.send({ type: 'LINK_PROVIDER', password, captcha });
            }}
          >
            {(errorAt) => (
              <>
                <AccountName email={email} />
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
          {step.canRecover && (
            <div className="step-ways">
              <Button
                variant="link"
                onPress={() => {
                  flow.send({ type: 'SWITCH', to: 'RECOVER', email });
                }}
              >
                {text.forgot}
              </Button>
            </div>
          )}
        </>
      )}
    </WithProviderTexts>
  );
}
