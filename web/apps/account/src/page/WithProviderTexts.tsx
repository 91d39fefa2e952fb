import { loadProviderTexts, type ProviderTexts } from '../text/provider.ts';
import { WithFetchedTexts, type FetchedTextsProps } from './WithFetchedTexts.tsx';

export type { ProviderTexts };

/** What has to do with identity providers, once its texts are there. */
export const WithProviderTexts = (props: FetchedTextsProps<ProviderTexts>) => (
  <WithFetchedTexts load={loadProviderTexts} {...props} />
);
