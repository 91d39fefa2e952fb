/** A dense table of places with filter, order and pages, all of which stand in the address. */
import { Cell, ColumnHead, EmptyState, LoadingState, SearchField, Table } from '@stoa/ui';
import { useQuery } from '@tanstack/react-query';
import { type LinkProps, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';

import type { PlacesSearch } from '../address/search.ts';
import { type PlacesView, placesPerPage, placesQuery } from '../api/cities.ts';
import { type CountryEntry, countryName } from '../api/countries.ts';
import { useSite } from '../api/site.ts';
import { useText } from '../text/useText.ts';
import { useAnnounce } from './Announcer.tsx';
import { FailureState } from './Failure.tsx';
import { kindName } from './kind.ts';
import { Link } from './Link.tsx';
import { Pager } from './Pager.tsx';
import { useDebounced } from './useDebounced.ts';
import './PlacesTable.css';

export interface PlacesTableProps {
  readonly search: PlacesSearch;
  /** Only places of this country, whose column is then left out. */
  readonly country?: CountryEntry;
  readonly countries: readonly CountryEntry[];
}

export function PlacesTable({ search, country, countries }: PlacesTableProps) {
  const { stoa } = useSite();
  const { t, number, language } = useText();
  const view = viewOf(search, country?._id);
  const { data: found, error, isPlaceholderData, refetch } = useQuery(placesQuery(stoa, view));
  const navigate = useNavigate();
  const announce = useAnnounce();
  const target = (next: PlacesSearch): Pick<LinkProps, 'to' | 'params' | 'search'> =>
    country === undefined
      ? { to: '/places', search: next }
      : { to: '/countries/$code', params: { code: country._id }, search: next };
  const go = (next: PlacesSearch, replace = false) => void navigate({ ...target(next), replace, resetScroll: false });

  const total = found?.totalCount;
  const summary = total === undefined || isPlaceholderData ? null : t.places.lead({ n: total });
  const first = useRef(true);
  useEffect(() => {
    if (summary === null) return;
    // The first number belongs to the page, later ones are news.
    if (!first.current) announce(summary);
    first.current = false;
  }, [summary, announce]);

  const byCode = new Map(countries.map((each) => [each._id, each]));
  const sortBy = (sort: PlacesView['sort']) => {
    const natural = sort === 'name' ? 'asc' : 'desc';
    const order = view.sort === sort && view.order === natural ? (natural === 'asc' ? 'desc' : 'asc') : natural;
    go(searchOf({ ...view, sort, order, page: 1 }));
  };
  const sortOf = (sort: PlacesView['sort']) =>
    view.sort !== sort ? 'none' : view.order === 'asc' ? 'ascending' : 'descending';

  return (
    <div className="places">
      <div className="places-tools">
        <PrefixFilter value={view.q} onChange={(q) => go(searchOf({ ...view, q, page: 1 }), view.q !== '')} />
        <p className="quiet" data-loading={isPlaceholderData || undefined}>
          {total === undefined ? '' : t.places.lead({ n: total })}
        </p>
      </div>
      {error !== null ? (
        <FailureState error={error} onRetry={() => void refetch()} />
      ) : found === undefined ? (
        <LoadingState label={t.states.loading} />
      ) : found.length === 0 ? (
        <EmptyState
          title={view.q === '' ? t.places.noneHere : t.places.none}
          level={country === undefined ? 2 : 3}
          action={
            view.q === '' ? undefined : (
              <Link {...target({})} variant="button">
                {t.places.reset}
              </Link>
            )
          }
        >
          {view.q === '' ? t.places.noneHereText : t.places.noneText}
        </EmptyState>
      ) : (
        <div className="places-rows" aria-busy={isPlaceholderData}>
          <Table
            caption={
              country === undefined ? t.places.caption : t.places.captionIn({ country: countryName(country, language) })
            }
          >
            <thead>
              <tr>
                <ColumnHead sort={sortOf('name')} onSort={() => sortBy('name')}>
                  {t.places.name}
                </ColumnHead>
                {country === undefined && <ColumnHead>{t.places.country}</ColumnHead>}
                <ColumnHead className="places-kind">{t.places.kind}</ColumnHead>
                <ColumnHead numeric sort={sortOf('population')} onSort={() => sortBy('population')}>
                  {t.places.population}
                </ColumnHead>
              </tr>
            </thead>
            <tbody>
              {found.items.map((city) => {
                const home = byCode.get(city.country);
                return (
                  <tr key={city._id}>
                    <th scope="row">
                      <Link to="/places/$id" params={{ id: city._id }} variant="name">
                        {city.name}
                      </Link>
                    </th>
                    {country === undefined && (
                      <Cell>
                        {home === undefined ? (
                          city.country
                        ) : (
                          <Link to="/countries/$code" params={{ code: home._id }} variant="name">
                            <span className="flag" aria-hidden="true">
                              {home.flag}
                            </span>
                            <span className="places-country">{countryName(home, language)}</span>
                          </Link>
                        )}
                      </Cell>
                    )}
                    <Cell className="places-kind quiet">{kindName(city.featureCode, t)}</Cell>
                    <Cell numeric>
                      {city.population > 0 ? (
                        number(city.population)
                      ) : (
                        <span className="quiet">{t.places.unknown}</span>
                      )}
                    </Cell>
                  </tr>
                );
              })}
            </tbody>
          </Table>
        </div>
      )}
      {total !== undefined && (
        <Pager
          page={view.page}
          pageSize={placesPerPage}
          total={total}
          to={(page) => target(searchOf({ ...view, page }))}
        />
      )}
    </div>
  );
}

/** What stands in the address, with the defaults filled in. */
function viewOf(search: PlacesSearch, country: string | undefined): PlacesView {
  const sort = search.sort ?? 'population';
  return {
    country,
    q: search.q ?? '',
    sort,
    order: search.order ?? (sort === 'name' ? 'asc' : 'desc'),
    page: search.page ?? 1,
  };
}

/** The way back: defaults are not written down. */
function searchOf({ q, sort, order, page }: PlacesView): PlacesSearch {
  return {
    ...(q === '' ? {} : { q }),
    ...(sort === 'name' ? { sort } : {}),
    ...(order === (sort === 'name' ? 'asc' : 'desc') ? {} : { order }),
    ...(page > 1 ? { page } : {}),
  };
}

/** Writes what is typed into the address when the typing rests. */
function PrefixFilter({ value, onChange }: { readonly value: string; readonly onChange: (value: string) => void }) {
  const { t } = useText();
  const [typed, setTyped] = useState(value);
  const rested = useDebounced(typed, 250);
  const written = useRef(value);
  const change = useRef(onChange);
  useEffect(() => {
    change.current = onChange;
  });
  useEffect(() => {
    if (rested.trim() === written.current) return;
    written.current = rested.trim();
    change.current(written.current);
  }, [rested]);
  useEffect(() => {
    // Changed by the address: a link, the back button.
    if (value === written.current) return;
    written.current = value;
    setTyped(value);
  }, [value]);
  return (
    <SearchField
      label={t.places.filter}
      labelHidden={false}
      clearLabel={t.search.clear}
      value={typed}
      onChange={setTyped}
      className="places-filter"
    />
  );
}
