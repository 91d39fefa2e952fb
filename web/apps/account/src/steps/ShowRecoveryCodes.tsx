import { useState } from 'react';
import { Button } from '@stoa/ui/Button';
import { Checkbox } from '@stoa/ui/Checkbox';
import { StepHead } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { siteName, type StepProps } from './step.ts';

export function ShowRecoveryCodes({ view, step, flow }: StepProps<'SHOW_RECOVERY_CODES'>) {
  const text = useText();
  const site = siteName(view, text);
  const [saved, setSaved] = useState(false);
  const [copied, setCopied] = useState(false);
  const plain = `${site}\n\n${step.codes.join('\n')}\n`;
  const copy = () => {
    navigator.clipboard.writeText(plain).then(
      () => {
        setCopied(true);
      },
      () => {
        setCopied(false);
      },
    );
  };
  return (
    <>
      <StepHead title={text.recoveryCodesTitle} site={site}>
        {text.recoveryCodesText}
      </StepHead>
      <div className="step-stack">
        <ul className="step-codes">
          {step.codes.map((it) => (
            <li key={it}>
              <code>{it}</code>
            </li>
          ))}
        </ul>
        <div className="step-row">
          <Button size="small" onPress={copy}>
            {text.copy}
          </Button>
          <Button
            size="small"
            onPress={() => {
              download(`${site} recovery codes.txt`, plain);
            }}
          >
            {text.download}
          </Button>
          <Button
            size="small"
            onPress={() => {
              print();
            }}
          >
            {text.print}
          </Button>
          <span role="status" className="step-quiet">
            {copied ? text.copied : ''}
          </span>
        </div>
        <Checkbox isSelected={saved} onChange={setSaved}>
          {text.savedCodes}
        </Checkbox>
        <Button
          variant="primary"
          wide
          pending={flow.sending === 'ACKNOWLEDGE'}
          disabledReason={saved ? undefined : text.savedCodesFirst}
          onPress={() => {
            flow.send({ type: 'ACKNOWLEDGE' });
          }}
        >
          {text.goOn}
        </Button>
      </div>
    </>
  );
}

function download(name: string, content: string) {
  const url = URL.createObjectURL(new Blob([content], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
