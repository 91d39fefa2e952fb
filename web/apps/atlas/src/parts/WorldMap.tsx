/** A quiet map: countries around a point, one of them marked, and dots for places. Loaded only where it is shown. */
import { type GeoProjection, geoAzimuthalEqualArea, geoGraticule10, geoOrthographic, geoPath } from 'd3-geo';
import type { Feature, Geometry } from 'geojson';
import { use, useMemo, useSyncExternalStore } from 'react';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import coarseUrl from 'world-atlas/countries-110m.json?url';
import fineUrl from 'world-atlas/countries-50m.json?url';

import type { Point } from '../api/geo.ts';
import { numericCodes } from './numericCodes.ts';

export interface Dot extends Point {
  readonly id: string;
  readonly name: string;
  readonly population: number;
  /** The dot that the map is about. */
  readonly main?: boolean;
}

export interface WorldMapProps {
  /** Said of the map as a whole; its dots are decoration. */
  readonly label: string;
  readonly shape: 'region' | 'globe';
  readonly center: Point;
  /** Degrees from the middle to the nearer edge; regions only. */
  readonly radius?: number;
  /** Two-letter code of the marked country. */
  readonly country?: string;
  readonly dots: readonly Dot[];
}

/** Size of names in units of the drawing; larger where the drawing is shown small. */
const nameSize = { wide: 15, narrow: 24 } as const;

const width = 640;
const height = { region: 480, globe: 640 } as const;

/** Outlines are fetched once per fineness. */
const loaded = new Map<string, Promise<Feature<Geometry>[]>>();

function outlines(url: string): Promise<Feature<Geometry>[]> {
  const known = loaded.get(url);
  if (known !== undefined) return known;
  const fetched = fetch(url)
    .then((response) => (response.ok ? response.json() : Promise.reject(new Error(`Map: status ${response.status}`))))
    .then(
      (topology: Topology<{ countries: GeometryCollection }>) => feature(topology, topology.objects.countries).features,
    )
    // A page without outlines is still a page: the dots and the graticule remain.
    .catch(() => []);
  loaded.set(url, fetched);
  return fetched;
}

export function WorldMap({ label, shape, center, radius = 10, country, dots }: WorldMapProps) {
  const features = use(outlines(shape === 'globe' || radius > 25 ? coarseUrl : fineUrl));
  const drawn = useMemo(() => {
    const projection = projectionOf(shape, center, radius);
    const path = geoPath(projection);
    const marked = country === undefined ? undefined : numericCodes[country];
    return {
      projection,
      sphere: path({ type: 'Sphere' }) ?? '',
      graticule: path(geoGraticule10()) ?? '',
      countries: features
        .map((each, index) => ({ key: `${index}`, d: path(each), marked: each.id !== undefined && each.id === marked }))
        .filter((each): each is { key: string; d: string; marked: boolean } => each.d !== null),
    };
  }, [features, shape, center, radius, country]);
  const { projection } = drawn;
  const narrow = useNarrow();
  const largest = Math.max(...dots.map(({ population }) => population), 1);

  return (
    <svg viewBox={`0 0 ${width} ${height[shape]}`} role="img" aria-label={label} className="map-drawing">
      <path d={drawn.sphere} className="map-sea" />
      <path d={drawn.graticule} className="map-graticule" />
      {drawn.countries.map(({ key, d, marked }) => (
        <path key={key} d={d} className="map-country" data-marked={marked || undefined} />
      ))}
      {shape === 'globe' && <path d={drawn.sphere} className="map-rim" />}
      {dots.map((dot) => {
        const at = visible(projection, shape, center, dot);
        if (at === null) return null;
        const size =
          shape === 'globe'
            ? 1.5 + 6 * Math.sqrt(dot.population / largest)
            : dot.main
              ? 6
              : 2 + 4 * Math.sqrt(dot.population / largest);
        return (
          <circle key={dot.id} cx={at[0]} cy={at[1]} r={size} className="map-dot" data-main={dot.main || undefined} />
        );
      })}
      {shape === 'region' && <Names dots={dots} projection={projection} size={nameSize[narrow ? 'narrow' : 'wide']} />}
    </svg>
  );
}

/** Names of the main dot and of the largest ones that do not run into each other. */
function Names({
  dots,
  projection,
  size,
}: {
  readonly dots: readonly Dot[];
  readonly projection: GeoProjection;
  readonly size: number;
}) {
  const taken: [number, number, number, number][] = [];
  const names = [];
  const order = [...dots].sort(
    (a, b) => Number(b.main ?? false) - Number(a.main ?? false) || b.population - a.population,
  );
  for (const dot of order) {
    const at = projection([dot.longitude, dot.latitude]);
    if (at === null) continue;
    const [x, y] = at;
    const length = dot.name.length * size * 0.57 + 12;
    const atEnd = x + length > width;
    const box: [number, number, number, number] = [
      atEnd ? x - length : x,
      y - size * 0.8,
      atEnd ? x : x + length,
      y + size * 0.8,
    ];
    const outside = box[0] < 0 || box[2] > width || y < size || y > height.region - size;
    const meets = taken.some(
      (other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1],
    );
    if (outside || (meets && dot.main !== true)) continue;
    taken.push(box);
    names.push(
      <text
        key={dot.id}
        x={atEnd ? x - 10 : x + 10}
        y={y + size / 3}
        fontSize={size}
        textAnchor={atEnd ? 'end' : 'start'}
        className="map-name"
        data-main={dot.main || undefined}
      >
        {dot.name}
      </text>,
    );
    if (names.length === 7) break;
  }
  return (
    <g aria-hidden="true" direction="ltr">
      {names}
    </g>
  );
}

const narrowScreen = '(max-width: 40rem)';

function useNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = matchMedia(narrowScreen);
      media.addEventListener('change', listener);
      return () => media.removeEventListener('change', listener);
    },
    () => matchMedia(narrowScreen).matches,
  );
}

function projectionOf(shape: WorldMapProps['shape'], center: Point, radius: number): GeoProjection {
  const rotation: [number, number] = [-center.longitude, -center.latitude];
  const middle: [number, number] = [width / 2, height[shape] / 2];
  if (shape === 'globe') {
    return geoOrthographic()
      .rotate(rotation)
      .scale(width / 2 - 4)
      .translate(middle)
      .clipAngle(90);
  }
  const scale = height.region / 2 / (2 * Math.sin((radius * Math.PI) / 360));
  return geoAzimuthalEqualArea()
    .rotate(rotation)
    .scale(scale)
    .translate(middle)
    .clipAngle(Math.min(179, radius * 2.6))
    .clipExtent([
      [-2, -2],
      [width + 2, height.region + 2],
    ]);
}

/** Where a dot stands, unless it is behind the globe. */
function visible(
  projection: GeoProjection,
  shape: WorldMapProps['shape'],
  center: Point,
  dot: Point,
): [number, number] | null {
  if (shape === 'globe') {
    const radians = (degrees: number) => (degrees * Math.PI) / 180;
    const cosine =
      Math.sin(radians(center.latitude)) * Math.sin(radians(dot.latitude)) +
      Math.cos(radians(center.latitude)) *
        Math.cos(radians(dot.latitude)) *
        Math.cos(radians(dot.longitude - center.longitude));
    if (cosine < 0.05) return null;
  }
  return projection([dot.longitude, dot.latitude]);
}
