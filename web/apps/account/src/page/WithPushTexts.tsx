import { loadPushTexts, type PushTexts } from '../text/push.ts';
import { WithFetchedTexts, type FetchedTextsProps } from './WithFetchedTexts.tsx';

export type { PushTexts };

/** What has to do with notifications, once its texts are there. */
export const WithPushTexts = (props: FetchedTextsProps<PushTexts>) => (
  <WithFetchedTexts load={loadPushTexts} {...props} />
);
