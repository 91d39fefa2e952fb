import { useState } from 'react';
import type { Problem } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import { Form, FormActions, ProblemSummary } from '@stoa/ui/Form';
import { PasswordField } from '@stoa/ui/PasswordField';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { AccountName } from '../parts/AccountName.tsx';
import { wrongText } from './problems.ts';

export interface PasswordFormProps {
  /** For password managers. */
  email: string;
  passwordMinLength: number;
  /** What is wrong with what was sent, at the fields `old` and `password` or the whole form. */
  problems: readonly Problem[];
  round: number;
  sending: boolean;
  onSend: (old: string, password: string) => void;
}

/** Another password, by those who show the one before. */
export function PasswordForm({ email, passwordMinLength: least, problems, round, sending, onSend }: PasswordFormProps) {
  const text = useAllTexts();
  const [old, setOld] = useState('');
  const [password, setPassword] = useState('');
  const [isEmpty, setIsEmpty] = useState(false);
  const at = (field: string, value: string) => {
    if (isEmpty && value === '') return text.problem.required;
    const found = problems.filter((it) => it.field === field);
    return found.map((it) => wrongText(text, it.code, it.message, least)).join(' ') || undefined;
  };
  const whole = problems.filter((it) => it.field !== 'old' && it.field !== 'password');
  return (
    <Form
      labelledBy="change-password"
      onSubmit={() => {
        const isMissing = old === '' || password === '';
        setIsEmpty(isMissing);
        if (!isMissing) onSend(old, password);
      }}
    >
      <h2 id="change-password" className="my-head">
        {text.changePassword}
      </h2>
      <ProblemSummary
        title={text.problemsTitle}
        problems={whole.map((it) => ({ key: it.code, text: wrongText(text, it.code, it.message, least) }))}
        round={round}
      />
      <AccountName email={email} />
      <PasswordField
        label={text.oldPassword}
        name="old"
        autoComplete="current-password"
        isRequired
        showLabel={text.showPassword}
        hideLabel={text.hidePassword}
        value={old}
        onChange={setOld}
        error={at('old', old)}
      />
      <PasswordField
        label={text.newPassword}
        name="password"
        autoComplete="new-password"
        isRequired
        showLabel={text.showPassword}
        hideLabel={text.hidePassword}
        help={text.passwordLength({ n: least })}
        value={password}
        onChange={setPassword}
        error={at('password', password)}
      />
      <FormActions>
        <Button type="submit" variant="primary" wide pending={sending}>
          {text.savePassword}
        </Button>
      </FormActions>
    </Form>
  );
}
