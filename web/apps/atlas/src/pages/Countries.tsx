import { Cell, ColumnHead, EmptyState, SearchField, Table } from '@stoa/ui';
import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';

import { type CountriesSearch, without } from '../address/search.ts';
import { type CountryEntry, countriesQuery, countryName } from '../api/countries.ts';
import { useSite } from '../api/site.ts';
import { Link } from '../parts/Link.tsx';
import { Page } from '../parts/Page.tsx';
import { isRegion, regionNames } from '../parts/regions.ts';
import { fold } from '../text/fold.ts';
import { type Spoken, useText } from '../text/useText.ts';
import './Countries.css';

const route = getRouteApi('/countries');

/** Every country, by region; filter and order stand in the address. */
export function Countries() {
  const spoken = useText();
  const { t, number, language } = spoken;
  const { stoa } = useSite();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: countries } = useSuspenseQuery(countriesQuery(stoa, language));
  const shown = select(countries, search, spoken);

  const go = (next: CountriesSearch, replace = false) => void navigate({ search: next, replace, resetScroll: false });
  const sortBy = (sort: 'name' | 'capital' | 'area') => {
    // Areas begin with the largest; a second press turns the order round.
    const natural = sort === 'area';
    const now = (search.sort ?? 'name') === sort ? search.order === 'desc' : null;
    const desc = now === null ? natural : !now;
    go({
      ...without(search, 'sort', 'order'),
      ...(sort === 'name' ? {} : { sort }),
      ...(desc ? { order: 'desc' } : {}),
    });
  };
  const sortOf = (sort: 'name' | 'capital' | 'area') =>
    (search.sort ?? 'name') !== sort ? 'none' : search.order === 'desc' ? 'descending' : 'ascending';

  return (
    <Page title={t.countries.title} lead={<p role="status">{t.countries.lead({ n: shown.length })}</p>}>
      <div className="countries-tools">
        <nav aria-label={t.countries.region} className="tabs">
          <Link
            to="/countries"
            search={without(search, 'region')}
            variant="plain"
            className="tab"
            data-active={search.region === undefined || undefined}
            activeOptions={{ exact: true }}
            resetScroll={false}
          >
            {t.countries.allRegions}
          </Link>
          {regionNames.map((region) => (
            <Link
              key={region}
              to="/countries"
              search={{ ...search, region }}
              variant="plain"
              className="tab"
              data-active={search.region === region || undefined}
              resetScroll={false}
            >
              {t.regions[region]}
            </Link>
          ))}
        </nav>
        <SearchField
          label={t.countries.filter}
          placeholder={t.countries.filter}
          clearLabel={t.search.clear}
          value={search.q ?? ''}
          onChange={(q) => go(q === '' ? without(search, 'q') : { ...search, q }, search.q !== undefined)}
          className="countries-filter"
        />
      </div>
      {shown.length === 0 ? (
        <EmptyState
          title={t.countries.none}
          action={
            <Link to="/countries" variant="button">
              {t.countries.reset}
            </Link>
          }
        >
          {t.countries.noneText}
        </EmptyState>
      ) : (
        <div className="countries-rows">
          <Table caption={t.countries.caption}>
            <thead>
              <tr>
                <ColumnHead sort={sortOf('name')} onSort={() => sortBy('name')}>
                  {t.countries.name}
                </ColumnHead>
                <ColumnHead className="countries-capital" sort={sortOf('capital')} onSort={() => sortBy('capital')}>
                  {t.countries.capital}
                </ColumnHead>
                {search.region === undefined && (
                  <ColumnHead className="countries-region">{t.countries.region}</ColumnHead>
                )}
                <ColumnHead numeric sort={sortOf('area')} onSort={() => sortBy('area')}>
                  {t.countries.area}
                </ColumnHead>
              </tr>
            </thead>
            <tbody>
              {shown.map((country) => (
                <tr key={country._id}>
                  <th scope="row">
                    <Link to="/countries/$code" params={{ code: country._id }} variant="name">
                      <span className="flag" aria-hidden="true">
                        {country.flag}
                      </span>
                      {countryName(country, language)}
                    </Link>
                  </th>
                  <Cell className="countries-capital">{country.capital.join(', ')}</Cell>
                  {search.region === undefined && (
                    <Cell className="countries-region quiet">
                      {isRegion(country.region) ? t.regions[country.region] : country.region}
                    </Cell>
                  )}
                  <Cell numeric>{number(country.area)}</Cell>
                </tr>
              ))}
            </tbody>
          </Table>
        </div>
      )}
    </Page>
  );
}

function select(
  countries: readonly CountryEntry[],
  search: CountriesSearch,
  { language, compare }: Spoken,
): CountryEntry[] {
  const wanted = fold(search.q ?? '');
  const name = (country: CountryEntry) => countryName(country, language);
  const turn = search.order === 'desc' ? -1 : 1;
  const order = (a: CountryEntry, b: CountryEntry) => {
    if (search.sort === 'area') return a.area - b.area;
    if (search.sort === 'capital') return compare(a.capital[0] ?? '', b.capital[0] ?? '');
    return 0;
  };
  return countries
    .filter(({ region }) => search.region === undefined || region === search.region)
    .filter((country) => [name(country), country.name].some((each) => fold(each).includes(wanted)))
    .sort((a, b) => turn * order(a, b) || (search.sort === undefined ? turn : 1) * compare(name(a), name(b)));
}
