import { useEffect, useState } from 'react';
import { CodeField } from '@stoa/ui/CodeField';
import { Link } from '@stoa/ui/Link';
import { useText } from '../page/text.ts';
import { CopyText } from './CopyText.tsx';
import { modulePath, type Modules } from './modules.ts';
import './AuthenticatorSetup.css';

const LENGTH = 6;
/** Light modules around the code, as scanners need them. */
const QUIET = 4;

export interface AuthenticatorSetupProps {
  /** In base32, for typing. */
  secret: string;
  /** The `otpauth:` address, for scanning. */
  uri: string;
  /** The first code that the authenticator shows, as typed so far. */
  code: string;
  onCode: (digits: string) => void;
  /** What is wrong with the code. */
  error?: string | undefined;
}

/** How an authenticator app is set up: scanned or typed, and its first code. Stands inside a form, which sends the code. */
export function AuthenticatorSetup({ secret, uri, code, onCode, error }: AuthenticatorSetupProps) {
  const text = useText();
  return (
    <ol className="setup-steps">
      <li>
        <p>{text.setupScan}</p>
        <QrCode text={uri} label={text.setupQrCode} />
        {uri.startsWith('otpauth://') && (
          <p className="step-quiet">
            <Link href={uri}>{text.setupOpen}</Link>
          </p>
        )}
      </li>
      <li>
        <p>{text.setupType}</p>
        <CopyText label={text.setupType} value={secret} shown={inGroups(secret)} />
      </li>
      <li>
        <p>{text.setupCode}</p>
        <CodeField
          label={text.codeDigits({ n: LENGTH })}
          name="code"
          length={LENGTH}
          value={code}
          onChange={onCode}
          error={error}
        />
      </li>
    </ol>
  );
}

/** Letters in fours, as people read them out. */
const inGroups = (secret: string): string => secret.match(/.{1,4}/g)?.join(' ') ?? '';

/** Black on white in both colour schemes. Without the library, which is fetched when it is needed, there is the text to type. */
function QrCode({ text, label }: { text: string; label: string }) {
  const [modules, setModules] = useState<Modules | 'none' | null>(null);
  useEffect(() => {
    let isOver = false;
    const take = (it: Modules | 'none') => {
      if (!isOver) setModules(it);
    };
    import('uqr').then(
      ({ encode }) => {
        take(encode(text, { ecc: 'M', border: QUIET }).data);
      },
      () => {
        take('none');
      },
    );
    return () => {
      isOver = true;
    };
  }, [text]);
  if (modules === 'none') return null;
  if (modules === null) return <div className="setup-qr" />;
  const size = modules.length;
  return (
    <svg className="setup-qr" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={modulePath(modules)} fill="#000" />
    </svg>
  );
}
