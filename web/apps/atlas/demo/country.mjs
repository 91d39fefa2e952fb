// One entry of `world-countries` as an item of the collection `countries`.
import { distinct } from './names.mjs';

/** ISO 639-2/3 codes of the package's translations → the tags that browsers use. */
const TAGS = {
  ara: 'ar',
  ces: 'cs',
  deu: 'de',
  est: 'et',
  fin: 'fi',
  fra: 'fr',
  hrv: 'hr',
  hun: 'hu',
  ita: 'it',
  jpn: 'ja',
  kor: 'ko',
  nld: 'nl',
  per: 'fa',
  pol: 'pl',
  por: 'pt',
  rus: 'ru',
  slk: 'sk',
  spa: 'es',
  srp: 'sr',
  swe: 'sv',
  tur: 'tr',
  urd: 'ur',
  zho: 'zh',
};

/**
 * `byCode` maps three-letter codes to the entries of the package. A border stands in the data when both sides name it:
 * the source has a few that only one side does (Sri Lanka and India meet at sea).
 */
export function countryItem(country, byCode) {
  const neighbours = country.borders
    .map((code) => byCode.get(code))
    .filter((other) => other?.borders.includes(country.cca3));
  const [latitude, longitude] = country.latlng;
  const calling = country.idd.root
    ? country.idd.root + (country.idd.suffixes.length === 1 ? country.idd.suffixes[0] : '')
    : '';
  return {
    _id: country.cca2,
    name: country.name.common,
    officialName: country.name.official,
    names: distinct(
      [
        ...country.altSpellings.filter((name) => name !== country.cca2),
        ...[...Object.values(country.name.native), ...Object.values(country.translations)].map(({ common }) => common),
      ],
      [country.name.common, country.name.official],
    ),
    capital: country.capital.filter(Boolean),
    region: country.region,
    subregion: country.subregion,
    languages: Object.values(country.languages),
    languageCodes: Object.keys(country.languages),
    currencies: Object.keys(country.currencies),
    borders: neighbours.map(({ cca2 }) => cca2).sort(),
    landlocked: country.landlocked,
    area: country.area,
    latitude,
    longitude,
    flag: country.flag,
    ...(calling ? { callingCode: calling } : {}),
    domains: country.tld,
    translations: Object.fromEntries(
      Object.entries(country.translations)
        .filter(([code]) => TAGS[code])
        .map(([code, names]) => [TAGS[code], names.common]),
    ),
  };
}
