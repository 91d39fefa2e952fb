import { Link } from '@stoa/ui/Link';
import { startUrl } from '../flow/route.ts';
import { problemText } from '../text/problems.ts';
import { MessagePage, NOWHERE, Restart } from './FailurePage.tsx';
import { useText } from './text.ts';

export type AddressPageProps = { title: string; text: string } | { code: string; clientId: string | null };

/** An address that leads to no flow: it lacks something itself, or the server refused it. */
export const AddressPage = (props: AddressPageProps) =>
  'code' in props ? <RefusalPage {...props} /> : <IncompletePage {...props} />;

/** What the server refused when its address was opened. */
function RefusalPage({ code, clientId }: { code: string; clientId: string | null }) {
  const text = useText();
  return (
    <MessagePage title={text.failedTitle} action={wayOn()}>
      <p>{problemText(text, code, text.brokenText)}</p>
    </MessagePage>
  );

  function wayOn() {
    if (clientId !== null) return <Restart start={{ kind: 'SIGN_IN', clientId }} />;
    return NOWHERE.has(code) ? null : <SignInLink />;
  }
}

/** The address itself lacks something, so that the server was not asked. */
function IncompletePage({ title, text }: { title: string; text: string }) {
  return (
    <MessagePage title={title} action={<SignInLink />}>
      <p>{text}</p>
    </MessagePage>
  );
}

/** Where a person begins whose address named no client. */
function SignInLink() {
  const text = useText();
  return (
    <Link href={startUrl({ kind: 'SIGN_IN' })} variant="primary">
      {text.signIn}
    </Link>
  );
}
