/** Distances on the globe. */
export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

const earthKm = 6371;
const radians = (degrees: number) => (degrees * Math.PI) / 180;

/** Along the great circle, in kilometres. */
export function distance(a: Point, b: Point): number {
  const sin = (from: number, to: number) => Math.sin(radians(to - from) / 2) ** 2;
  const h =
    sin(a.latitude, b.latitude) +
    Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * sin(a.longitude, b.longitude);
  return 2 * earthKm * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** Radius in degrees of a circle with this area in km². */
export function radiusOfArea(km2: number): number {
  return (Math.sqrt(km2 / Math.PI) / earthKm) * (180 / Math.PI);
}
