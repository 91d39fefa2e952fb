// Names of cities in other languages. CLDR has them for the cities after which time zones are called, a few hundred; some
// of other large ones stand in local-names.mjs.
// A zone lies in one country, and its city is the most populous place there that has the zone's name: "Melbourne" is
// the one in Australia, "San Juan" the one in Argentina or in Puerto Rico.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { fold } from './fold.mjs';

/** Zones whose id in CLDR doesn't begin with the code of their country. */
const COUNTRIES = { ancur: 'CW', gaza: 'PS', gazastrp: 'PS', gpmsb: 'MF', gpsbh: 'BL', hebron: 'PS', jeruslm: 'IL' };

/** Zones that are called after another place than the one they lie in has: an island, a hamlet far away. */
const ELSEWHERE = new Set(['cayzs', 'pmmqc']);

/**
 * The languages whose names are taken, those of many people first. Some that CLDR has write "the city of" as a part of
 * the name (Yoruba, Zulu), or hardly have names of their own.
 */
export const LANGUAGES = [
  ...['zh', 'es', 'ar', 'hi', 'pt', 'ru', 'fr', 'ja', 'de', 'ko', 'he', 'en', 'zh-Hant', 'it', 'nl', 'pl', 'uk', 'tr'],
  ...[
    'af',
    'am',
    'az',
    'be',
    'bg',
    'bn',
    'ca',
    'cs',
    'da',
    'el',
    'et',
    'eu',
    'fa',
    'fi',
    'fil',
    'gl',
    'gu',
    'hr',
    'hu',
  ],
  ...['hy', 'id', 'is', 'ka', 'kk', 'km', 'kn', 'lo', 'lt', 'lv', 'mk', 'ml', 'mn', 'mr', 'ms', 'my', 'ne', 'no', 'pa'],
  ...['ro', 'si', 'sk', 'sl', 'sq', 'sr', 'sv', 'sw', 'ta', 'te', 'th', 'ur', 'uz', 'vi'],
];

/**
 * The zones of `cldr-bcp47`: all their ids (`Asia/Calcutta`, `Asia/Kolkata`) and the country they lie in.
 * @param {object} timezones bcp47/timezone.json
 */
export function zonesOf(timezones) {
  const isOfCity = (id) =>
    /^(Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific)\//.test(id);
  return Object.entries(timezones.keyword.u.tz)
    .filter(([id, zone]) => typeof zone._alias === 'string' && !ELSEWHERE.has(id))
    .map(([id, zone]) => ({
      ids: zone._alias.split(' ').filter(isOfCity),
      country: COUNTRIES[id] ?? id.slice(0, 2).toUpperCase(),
    }))
    .filter(({ ids }) => ids.length > 0);
}

/**
 * What each of the languages calls the city of each zone: zone → language → name.
 * @param {string} folder of the package `cldr-dates-full`
 */
export function zoneNames(folder) {
  const names = new Map();
  for (const language of LANGUAGES) {
    const file = JSON.parse(readFileSync(join(folder, 'main', language, 'timeZoneNames.json'), 'utf8'));
    collect(file.main[language].dates.timeZoneNames.zone ?? {}, []);

    function collect(branch, path) {
      for (const [key, value] of Object.entries(branch)) {
        if (key === 'exemplarCity') remember(path.join('/'), value);
        else if (typeof value === 'object') collect(value, [...path, key]);
      }
    }

    function remember(zone, name) {
      if (!names.has(zone)) names.set(zone, new Map());
      names.get(zone).set(language, name);
    }
  }
  return names;
}

/**
 * The other names of cities, by their id: each once, and none that only differs by case or accents.
 * @param {{ cityId: number, name: string, country: string, population: number, featureCode: string }[]} cities
 * @param {ReturnType<typeof zonesOf>} zones
 * @param {ReturnType<typeof zoneNames>} names
 * @param {[country: string, name: string, others: string[]][]} more other names of cities that no zone is called after
 * @returns {Map<string, string[]>}
 */
export function otherNames(cities, zones, names, more = []) {
  const byName = largestByName(cities);
  const found = new Map();
  for (const [country, name, others] of more) {
    const city = byName.get(`${country} ${fold(name)}`);
    if (city === undefined) throw new Error(`no city of ${country} is called ${name}`);
    found.set(String(city.cityId), distinct(others, [city.name]));
  }
  for (const { ids, country } of zones) {
    const own = ids.map((id) => names.get(id)).filter(Boolean);
    const english = own.map((it) => it.get('en')).filter(Boolean);
    // "Knox, Indiana": small places that are told apart by more than their country.
    if (own.length === 0 || english.some((name) => name.includes(','))) continue;
    const called = [...english, ...ids.map((id) => id.split('/').at(-1).replaceAll('_', ' '))];
    // New York City, Guatemala City
    const candidates = [...called, ...called.map((name) => `${name} City`)];
    const city = candidates.map((name) => byName.get(`${country} ${fold(name)}`)).find(Boolean);
    if (city === undefined) continue;
    const id = String(city.cityId);
    // Where a language says nothing, the name is that in the id.
    const others = [...called.slice(0, english.length + 1), ...own.flatMap((it) => [...it.values()])];
    found.set(id, distinct([...(found.get(id) ?? []), ...others], [city.name]));
  }
  return found;
}

/** The most populous place of each country with each name. Parts of towns are none. */
function largestByName(cities) {
  const byName = new Map();
  for (const city of cities) {
    if (city.featureCode === 'PPLX') continue;
    const key = `${city.country} ${fold(city.name)}`;
    const other = byName.get(key);
    if (other === undefined || city.population > other.population) byName.set(key, city);
  }
  return byName;
}

/** Names in their order, without those that a search takes for one of the known ones. */
export function distinct(names, known) {
  const seen = new Set(known.filter(Boolean).map(key));
  const kept = [];
  for (const name of names) {
    if (name === '' || seen.has(key(name))) continue;
    seen.add(key(name));
    kept.push(name);
  }
  return kept;
}

/** Marks are accents in the Latin script, and part of the spelling in others. */
const key = (name) =>
  /^[\p{Script=Latin}\p{M}\p{P}\p{Zs}]+$/u.test(name) ? fold(name) : name.normalize('NFC').toLowerCase();
