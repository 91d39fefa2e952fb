/** One search over countries and places: suggestions as you type, moved through by keyboard (WAI-ARIA combobox). */
import { Spinner } from '@stoa/ui';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';

import type { City } from '../api/cities.ts';
import { type CountryEntry, countriesQuery, countryName } from '../api/countries.ts';
import { fits, foundBy, lookAlikes } from '../api/likeness.ts';
import { countriesFoundQuery, isSearched, openingQuery } from '../api/search.ts';
import { useSite } from '../api/site.ts';
import { type Spoken, useText } from '../text/useText.ts';
import { matchCountries } from './matchCountries.ts';
import { useDebounced } from './useDebounced.ts';
import './SearchBox.css';

const pause = 140;
const mostCountries = 4;
const mostPlaces = 8;

interface Suggestion {
  readonly id: string;
  readonly group: 'countries' | 'places' | 'all';
  readonly flag: string;
  readonly name: string;
  /** The other name by which it was found. */
  readonly other?: string | undefined;
  readonly detail: string;
  readonly figure: string;
  readonly go: () => void;
}

export function SearchBox({ large = false }: { readonly large?: boolean }) {
  const { t } = useText();
  const [typed, setTyped] = useState('');
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState<string | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const listId = useId();
  const { suggestions, state, query, isSimilar } = useSuggestions(typed);
  const shown = open && isSearched(typed);
  const current = shown ? suggestions.find(({ id }) => id === active) : undefined;
  useSlash(input);

  useEffect(() => {
    if (current !== undefined) document.getElementById(listId + current.id)?.scrollIntoView({ block: 'nearest' });
  }, [current, listId]);

  const type = (text: string) => {
    setTyped(text);
    setActive(null);
    setOpen(true);
  };
  const choose = (suggestion: Suggestion) => {
    setOpen(false);
    setTyped('');
    input.current?.blur();
    suggestion.go();
  };
  const key = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const count = suggestions.length;
    if (event.key === 'Escape') {
      if (shown) setOpen(false);
      else type('');
    } else if (event.key === 'Enter') {
      // Only for what was typed: suggestions of an earlier text are not what is meant.
      const chosen = current ?? (state === 'ready' ? suggestions[0] : undefined);
      if (shown && chosen !== undefined) choose(chosen);
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && count > 0) {
      setOpen(true);
      const step = event.key === 'ArrowDown' ? 1 : -1;
      const from = suggestions.findIndex(({ id }) => id === active);
      const next = suggestions[(from + step + (from === -1 && step === -1 ? 1 : 0) + count) % count];
      setActive(next?.id ?? null);
    } else return;
    event.preventDefault();
  };

  return (
    <search
      className="search"
      data-large={large || undefined}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) setOpen(false);
      }}
    >
      <label className="search-frame">
        <span className="stoa-hidden">{t.search.label}</span>
        <svg viewBox="0 0 24 24" aria-hidden="true" className="search-sign">
          <circle cx="10.5" cy="10.5" r="6" />
          <path d="M15 15l5 5" />
        </svg>
        <input
          ref={input}
          className="search-input"
          type="search"
          role="combobox"
          placeholder={t.search.placeholder}
          title={t.search.hint}
          value={typed}
          autoComplete="off"
          autoCorrect="off"
          spellCheck={false}
          enterKeyHint="search"
          aria-autocomplete="list"
          aria-expanded={shown}
          aria-controls={listId}
          aria-activedescendant={current === undefined ? undefined : listId + current.id}
          onChange={(event) => type(event.target.value)}
          onFocus={() => setOpen(true)}
          onKeyDown={key}
        />
        {shown && state === 'searching' ? (
          <Spinner />
        ) : (
          typed === '' && (
            <kbd className="search-key" aria-hidden="true">
              /
            </kbd>
          )
        )}
      </label>
      <div className="search-list" hidden={!shown}>
        <div
          className="search-options"
          id={listId}
          role="listbox"
          aria-label={t.search.label}
          hidden={suggestions.length === 0}
        >
          {shown && (
            <Groups
              suggestions={suggestions}
              placesLabel={isSimilar ? t.search.similar({ query }) : t.search.places}
              active={current}
              listId={listId}
              onChoose={choose}
            />
          )}
        </div>
        {state === 'searching' && suggestions.length === 0 && <p className="search-note">{t.search.searching}</p>}
        <p role="status" className="search-note">
          {shown && state === 'ready' && suggestions.length === 0 && t.search.none({ query })}
          {shown && state === 'building' && t.search.building}
          {shown && state === 'failed' && t.search.failed}
        </p>
      </div>
      <div role="status" className="stoa-hidden">
        {shown && state === 'ready' && suggestions.length > 0 && (
          <>
            {isSimilar && `${t.search.similar({ query })} `}
            {t.search.found({ n: suggestions.filter(({ group }) => group !== 'all').length })}
          </>
        )}
      </div>
    </search>
  );
}

interface GroupsProps {
  readonly suggestions: readonly Suggestion[];
  readonly placesLabel: string;
  readonly active: Suggestion | undefined;
  readonly listId: string;
  readonly onChoose: (suggestion: Suggestion) => void;
}

function Groups({ suggestions, placesLabel, active, listId, onChoose }: GroupsProps) {
  const { t } = useText();
  return (['countries', 'places', 'all'] as const).map((group) => {
    const members = suggestions.filter((each) => each.group === group);
    if (members.length === 0) return null;
    const label = group === 'places' ? placesLabel : group === 'countries' ? t.search.countries : t.search.places;
    return (
      <div key={group} role="group" aria-label={label} className="search-group">
        {group !== 'all' && (
          <div className="search-group-name" aria-hidden="true">
            {label}
          </div>
        )}
        {members.map((each) => (
          <div
            key={each.id}
            id={listId + each.id}
            role="option"
            aria-selected={active === each}
            className="search-option"
            // Keeps the focus in the field, so that the list is not closed before the click.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onChoose(each)}
          >
            <span className="flag" aria-hidden="true">
              {each.flag}
            </span>
            <span className="search-name">
              {each.name} {each.other !== undefined && <bdi className="search-other">{each.other}</bdi>}
            </span>{' '}
            <span className="search-detail">{each.detail}</span> <span className="search-figure">{each.figure}</span>
          </div>
        ))}
      </div>
    );
  });
}

function useSuggestions(typed: string) {
  const { stoa } = useSite();
  const spoken = useText();
  const { t, language, compare } = spoken;
  const navigate = useNavigate();
  const rested = useDebounced(typed, pause).trim();
  const { data: countries = [], isPending: isWithoutCountries } = useQuery(countriesQuery(stoa, language));
  const found = useQuery(countriesFoundQuery(stoa, rested));
  const places = useQuery(openingQuery(stoa, { q: rested }));
  const byCode = new Map(countries.map((country) => [country._id, country]));
  const query = typed.trim();
  // Until the answer to what is typed is there, this is the last one: of that, what fits the new text too.
  const answer = isSearched(typed) ? places.data : undefined;
  const isAnswer = answer?.text === query;
  const cities = (answer?.items ?? []).filter((city) => isAnswer || fits(city, typed)).slice(0, mostPlaces);

  const known = matchCountries(countries, typed, language, compare);
  // Beginnings of names in all languages are many, and mostly not meant.
  const inOtherLanguages =
    query === rested && known.length === 0 ? (found.data ?? []).flatMap((id) => byCode.get(id) ?? []) : [];
  const suggestions = [...known, ...inOtherLanguages].slice(0, mostCountries).map((country): Suggestion => ({
    id: `-${country._id}`,
    group: 'countries',
    flag: country.flag,
    name: countryName(country, language),
    detail: country.capital.join(', '),
    figure: '',
    go: () => void navigate({ to: '/countries/$code', params: { code: country._id } }),
  }));
  const alike = lookAlikes(cities);
  for (const city of cities) {
    suggestions.push({
      id: `-${city._id}`,
      group: 'places',
      name: city.name,
      other: foundBy(city, typed),
      ...whereabouts(city, byCode.get(city.country), alike.has(city._id), spoken),
      go: () => void navigate({ to: '/places/$id', params: { id: city._id } }),
    });
  }
  if (cities.length > 0) {
    suggestions.push({
      id: '-all',
      group: 'all',
      flag: '',
      name: t.search.all({ query }),
      detail: '',
      figure: '',
      go: () => void navigate({ to: '/places', search: { q: query } }),
    });
  }
  return {
    suggestions,
    state: stateOf(),
    query,
    isSimilar: isAnswer && answer?.reading === 'similar' && answer.isComplete,
  };

  function stateOf(): 'searching' | 'failed' | 'building' | 'ready' {
    if (query !== rested || places.isPlaceholderData) return 'searching';
    // Countries stand first: until they are known it is not known what Enter means.
    const isUnsettled = isWithoutCountries || (known.length === 0 && found.isPending);
    if (isSearched(rested) && isUnsettled) return 'searching';
    if (places.isError) return 'failed';
    if (answer?.isComplete === false) return 'building';
    return places.isFetching && answer === undefined ? 'searching' : 'ready';
  }
}

/** What tells a place from others of its name. */
function whereabouts(
  city: City,
  country: CountryEntry | undefined,
  isAlike: boolean,
  { language, number, position }: Spoken,
) {
  const parts = [
    isAlike ? position(city.latitude, city.longitude) : undefined,
    // A region is often called as its capital is.
    city.region === city.name ? undefined : city.region,
    country === undefined ? city.country : countryName(country, language),
  ];
  return {
    flag: country?.flag ?? '',
    detail: parts.filter((part) => part !== undefined).join(', '),
    figure: city.population > 0 ? number(city.population) : '',
  };
}

/** `/` goes to the search from anywhere but a field. */
function useSlash(input: { readonly current: HTMLInputElement | null }) {
  useEffect(() => {
    const heard = (event: globalThis.KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
      const target = event.target as HTMLElement;
      if (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener('keydown', heard);
    return () => removeEventListener('keydown', heard);
  }, [input]);
}
