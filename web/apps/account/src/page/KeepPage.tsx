import type { SiteFace } from '@stoa/api';
import { Link } from '@stoa/ui/Link';
import { readDeletion, undoDeletion } from '../api/deletion.ts';
import { EMAIL_IN_USE, readEmailChange, undoEmailChange } from '../api/emailChange.ts';
import { startUrl } from '../flow/route.ts';
import { writtenDate } from './dates.ts';
import { LinkPage } from './LinkPage.tsx';
import { useAllTexts } from './WithLaterTexts.tsx';

export interface KeepPageProps {
  token: string;
  language: string;
  /** Tells whose site it is, once that is known. */
  onSite: (site: SiteFace) => void;
}

/** A member keeps what a link is about, of which its token begins to tell: the account, or the address of before. */
export function KeepPage({ token, language, onSite }: KeepPageProps) {
  return token.startsWith('u') ? (
    <EmailPage token={token} onSite={onSite} />
  ) : (
    <AccountPage token={token} language={language} onSite={onSite} />
  );
}

/** An account that is to be deleted stays. */
function AccountPage({ token, language, onSite }: KeepPageProps) {
  const text = useAllTexts();
  return (
    <LinkPage
      token={token}
      onSite={onSite}
      read={readDeletion}
      undo={undoDeletion}
      isDone={(it) => it.deletionDate === undefined}
      question={({ site, deletionDate = '' }) => ({
        title: text.keepTitle({ site: site.name }),
        text: text.keepText({ date: writtenDate(deletionDate, language) }),
        action: text.keepAccount,
      })}
      done={{
        title: text.keptTitle,
        text: text.keptText,
        link: () => (
          <Link href={startUrl({ kind: 'SIGN_IN' })} variant="primary">
            {text.signIn}
          </Link>
        ),
      }}
      gone={{ title: text.keepGoneTitle, text: text.keepGoneText }}
    />
  );
}

/** An account that was given another address has this one again. */
function EmailPage({ token, onSite }: Omit<KeepPageProps, 'language'>) {
  const text = useAllTexts();
  return (
    <LinkPage
      token={token}
      onSite={onSite}
      read={readEmailChange}
      undo={undoEmailChange}
      isDone={(it) => it.isUndone}
      question={({ site }) => ({
        title: text.undoEmailTitle({ site: site.name }),
        text: text.undoEmailText,
        action: text.undoEmail,
      })}
      done={{
        title: text.undoneTitle,
        text: text.undoneText,
        link: () => (
          <Link href={startUrl({ kind: 'RECOVER' })} variant="primary">
            {text.newPassword}
          </Link>
        ),
      }}
      gone={{ title: text.undoGoneTitle, text: text.undoGoneText }}
      refused={({ code }) => (code === EMAIL_IN_USE ? text.wrong.emailInUse : undefined)}
    />
  );
}
