/** Places as the rows of a table, with what tells those of the same name apart. */
import { Cell, ColumnHead, Table } from '@stoa/ui';
import type { ReactNode } from 'react';

import type { City } from '../api/cities.ts';
import { type CountryEntry, countryName } from '../api/countries.ts';
import { foundBy, lookAlikes } from '../api/likeness.ts';
import { useText } from '../text/useText.ts';
import { kindName } from './kind.ts';
import { Link } from './Link.tsx';

export interface PlaceRowsProps {
  readonly places: readonly City[];
  /** The text that found them; empty if none did. */
  readonly typed: string;
  /** The country of all of them, which then has no column. */
  readonly country: CountryEntry | undefined;
  readonly countries: readonly CountryEntry[];
  readonly nameHead: ReactNode;
  readonly populationHead: ReactNode;
}

export function PlaceRows({ places, typed, country, countries, nameHead, populationHead }: PlaceRowsProps) {
  const { t, number, language } = useText();
  const byCode = new Map(countries.map((each) => [each._id, each]));
  const alike = lookAlikes(places);
  return (
    <Table
      caption={
        country === undefined ? t.places.caption : t.places.captionIn({ country: countryName(country, language) })
      }
    >
      <thead>
        <tr>
          {nameHead}
          <ColumnHead className="places-region">{t.places.region}</ColumnHead>
          {country === undefined && <ColumnHead>{t.places.country}</ColumnHead>}
          <ColumnHead className="places-kind">{t.places.kind}</ColumnHead>
          {populationHead}
        </tr>
      </thead>
      <tbody>
        {places.map((city) => (
          <tr key={city._id}>
            <th scope="row">
              <Name city={city} typed={typed} isAlike={alike.has(city._id)} />
            </th>
            <Cell className="places-region quiet">{city.region}</Cell>
            {country === undefined && (
              <Cell>
                <Country country={byCode.get(city.country)} code={city.country} />
              </Cell>
            )}
            <Cell className="places-kind quiet">{kindName(city.featureCode, t)}</Cell>
            <Cell numeric>
              {city.population > 0 ? number(city.population) : <span className="quiet">{t.places.unknown}</span>}
            </Cell>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

interface NameProps {
  readonly city: City;
  readonly typed: string;
  readonly isAlike: boolean;
}

function Name({ city, typed, isAlike }: NameProps) {
  const { position } = useText();
  const other = typed === '' ? undefined : foundBy(city, typed);
  return (
    <>
      <Link to="/places/$id" params={{ id: city._id }} variant="name">
        {city.name}
      </Link>{' '}
      {other !== undefined && <bdi className="places-other quiet">{other}</bdi>}{' '}
      {/* Stands in for the column where that has no room. */}
      {city.region !== undefined && <span className="places-below places-region-below quiet">{city.region}</span>}{' '}
      {isAlike && <span className="places-below quiet">{position(city.latitude, city.longitude)}</span>}
    </>
  );
}

function Country({ country, code }: { readonly country: CountryEntry | undefined; readonly code: string }) {
  const { language } = useText();
  if (country === undefined) return code;
  return (
    <Link to="/countries/$code" params={{ code: country._id }} variant="name">
      <span className="flag" aria-hidden="true">
        {country.flag}
      </span>
      <span className="places-country">{countryName(country, language)}</span>
    </Link>
  );
}
