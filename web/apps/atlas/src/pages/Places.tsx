import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';

import { countriesQuery } from '../api/countries.ts';
import { useSite } from '../api/site.ts';
import { Page } from '../parts/Page.tsx';
import { PlacesTable } from '../parts/PlacesTable.tsx';
import { useText } from '../text/useText.ts';

const route = getRouteApi('/places');

/** Every place of the world. */
export function Places() {
  const { t, language } = useText();
  const { stoa } = useSite();
  const { data: countries } = useSuspenseQuery(countriesQuery(stoa, language));
  return (
    <Page title={t.places.title}>
      <PlacesTable search={route.useSearch()} countries={countries} />
    </Page>
  );
}
