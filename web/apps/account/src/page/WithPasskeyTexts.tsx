import { loadPasskeyTexts, type PasskeyTexts } from '../text/passkey.ts';
import { WithFetchedTexts, type FetchedTextsProps } from './WithFetchedTexts.tsx';

export type { PasskeyTexts };

/** What has to do with passkeys or with factors of owners and editors, once its texts are there. */
export const WithPasskeyTexts = (props: FetchedTextsProps<PasskeyTexts>) => (
  <WithFetchedTexts load={loadPasskeyTexts} {...props} />
);
