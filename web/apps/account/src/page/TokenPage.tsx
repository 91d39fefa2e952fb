import type { SiteFace } from '@stoa/api';
import type { TokenPageName } from '../flow/route.ts';
import { ApprovalPage } from './ApprovalPage.tsx';
import { KeepPage } from './KeepPage.tsx';
import { PushPage } from './PushPage.tsx';
import { WithLaterTexts } from './WithLaterTexts.tsx';

export interface TokenPageProps {
  /** Which of them. */
  to: TokenPageName;
  token: string;
  language: string;
  /** Tells whose site it is, once that is known. */
  onSite: (site: SiteFace) => void;
}

const PAGES = { approve: ApprovalPage, keep: KeepPage, push: PushPage };

/** The pages whose token stands behind `#`. */
export function TokenPage({ to, ...rest }: TokenPageProps) {
  const Page = PAGES[to];
  return (
    <WithLaterTexts language={rest.language}>
      <Page {...rest} />
    </WithLaterTexts>
  );
}
