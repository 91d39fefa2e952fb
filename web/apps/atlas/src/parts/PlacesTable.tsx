/** A dense table of places with search, order and pages, all of which stand in the address. */
import { ColumnHead, EmptyState, LoadingState, SearchField } from '@stoa/ui';
import { useQuery } from '@tanstack/react-query';
import { type LinkProps, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';

import type { PlacesSearch } from '../address/search.ts';
import type { CountryEntry } from '../api/countries.ts';
import { type Places, type PlacesView, placesQuery } from '../api/places.ts';
import { placesPerPage } from '../api/search.ts';
import { useSite } from '../api/site.ts';
import { type Spoken, useText } from '../text/useText.ts';
import { useAnnounce } from './Announcer.tsx';
import { FailureState } from './Failure.tsx';
import { Link } from './Link.tsx';
import { Pager } from './Pager.tsx';
import { PlaceRows } from './PlaceRows.tsx';
import { useDebounced } from './useDebounced.ts';
import './PlacesTable.css';

export interface PlacesTableProps {
  readonly search: PlacesSearch;
  /** Only places of this country, whose column is then left out. */
  readonly country?: CountryEntry;
  readonly countries: readonly CountryEntry[];
}

type Target = Pick<LinkProps, 'to' | 'params' | 'search'>;

export function PlacesTable({ search, country, countries }: PlacesTableProps) {
  const { stoa } = useSite();
  const spoken = useText();
  const { t } = spoken;
  const view = viewOf(search, country?._id);
  const { data: found, error, isPlaceholderData, refetch } = useQuery(placesQuery(stoa, view));
  const navigate = useNavigate();
  const target = (next: PlacesSearch): Target =>
    country === undefined
      ? { to: '/places', search: next }
      : { to: '/countries/$code', params: { code: country._id }, search: next };
  const go = (next: PlacesSearch, replace = false) => void navigate({ ...target(next), replace, resetScroll: false });
  const summary = found === undefined ? '' : summaryOf(found, view, spoken);
  useNews(isPlaceholderData || summary === '' ? null : summary);
  const isPastEnd = view.page > 1 && found?.isComplete === true && found.items.length === 0 && found.total !== 0;
  const isBuilding = found?.isComplete === false;
  const meant = isBuilding ? undefined : found?.meant;
  // Where nothing is like it here, it is somewhere else.
  const toMeant = (q: string): Target =>
    found?.items.length === 0 ? { to: '/places', search: { q } } : target(searchOf(typedInto(view, q)));

  const sortBy = (sort: 'name' | 'population') => {
    const natural = sort === 'name' ? 'asc' : 'desc';
    const order = view.sort === sort && view.order === natural ? (natural === 'asc' ? 'desc' : 'asc') : natural;
    go(searchOf({ ...view, sort, order, page: 1 }));
  };
  const sortOf = (sort: 'name' | 'population') =>
    view.sort !== sort ? 'none' : view.order === 'asc' ? 'ascending' : 'descending';

  return (
    <div className="places">
      <search className="places-tools" aria-label={t.places.search}>
        <TextFilter value={view.q} onChange={(q) => go(searchOf(typedInto(view, q)), view.q !== '')} />
        <p className="quiet" data-loading={isPlaceholderData || undefined}>
          {isBuilding && found.items.length > 0 ? t.search.building : summary}
          {meant !== undefined && (
            <>
              {' '}
              <Link {...toMeant(meant)} resetScroll={false}>
                {t.search.meant({ query: meant })}
              </Link>
            </>
          )}
          {view.q !== '' && view.sort !== 'best' && (
            <>
              {' · '}
              <Link {...target(searchOf({ ...view, sort: 'best', order: 'desc', page: 1 }))} resetScroll={false}>
                {t.places.best}
              </Link>
            </>
          )}
        </p>
      </search>
      {error !== null ? (
        <FailureState error={error} onRetry={() => void refetch()} />
      ) : found === undefined ? (
        <LoadingState label={t.states.loading} />
      ) : isBuilding && found.items.length === 0 ? (
        <LoadingState label={t.search.building} />
      ) : isPastEnd ? (
        <EmptyState
          title={t.places.past}
          level={country === undefined ? 2 : 3}
          action={
            <Link {...target(searchOf({ ...view, page: 1 }))} variant="button">
              {t.places.toFirst}
            </Link>
          }
        >
          {t.places.pastText}
        </EmptyState>
      ) : found.items.length === 0 ? (
        <EmptyState
          title={view.q === '' ? t.places.noneHere : t.places.none({ query: view.q })}
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
          <PlaceRows
            places={found.items}
            typed={view.q}
            country={country}
            countries={countries}
            nameHead={
              <ColumnHead sort={sortOf('name')} onSort={() => sortBy('name')}>
                {t.places.name}
              </ColumnHead>
            }
            populationHead={
              <ColumnHead numeric sort={sortOf('population')} onSort={() => sortBy('population')}>
                {t.places.population}
              </ColumnHead>
            }
          />
        </div>
      )}
      {found !== undefined && !isPastEnd && (
        <Pager
          page={view.page}
          pageSize={placesPerPage}
          total={found.total}
          hasNext={found.hasNext}
          to={(page) => target(searchOf({ ...view, page }))}
        />
      )}
    </div>
  );
}

/** How many there are, and how the text was read to find them; empty while that is not known. */
function summaryOf(found: Places, { q, page }: PlacesView, { t }: Spoken): string {
  const { total, items, reading } = found;
  if (!found.isComplete || (total === null && items.length === 0)) return '';
  const count = total === null ? t.places.moreThan({ n: page * placesPerPage }) : t.places.lead({ n: total });
  if (items.length === 0 || reading === 'names') return count;
  return `${reading === 'similar' ? t.search.similar({ query: q }) : t.places.around({ query: q })} ${count}`;
}

/** Announces each summary but the first, which belongs to the page. */
function useNews(summary: string | null): void {
  const announce = useAnnounce();
  const first = useRef(true);
  useEffect(() => {
    if (summary === null) return;
    if (!first.current) announce(summary);
    first.current = false;
  }, [summary, announce]);
}

/** What stands in the address, with the defaults filled in. */
function viewOf(search: PlacesSearch, country: string | undefined): PlacesView {
  const q = search.q?.trim() ?? '';
  const sort = search.sort ?? (q === '' ? 'population' : 'best');
  return { country, q, sort, order: search.order ?? naturalOrder(sort), page: search.page ?? 1 };
}

/** The way back: defaults are not written down. */
function searchOf({ q, sort, order, page }: PlacesView): PlacesSearch {
  return {
    ...(q === '' ? {} : { q }),
    ...(sort === 'name' || (sort === 'population' && q !== '') ? { sort } : {}),
    ...(order === naturalOrder(sort) ? {} : { order }),
    ...(page > 1 ? { page } : {}),
  };
}

/** Another text begins with its best matches, and without one there are none. */
function typedInto(view: PlacesView, q: string): PlacesView {
  const sort = view.sort === 'name' ? 'name' : q === '' ? 'population' : 'best';
  return { ...view, q, sort, order: view.sort === sort ? view.order : naturalOrder(sort), page: 1 };
}

const naturalOrder = (sort: PlacesView['sort']) => (sort === 'name' ? 'asc' : 'desc');

/** Writes what is typed into the address when the typing rests. */
function TextFilter({ value, onChange }: { readonly value: string; readonly onChange: (value: string) => void }) {
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
