import { Suspense, lazy } from 'react';

import type { WorldMapProps } from './WorldMap.tsx';
import './WorldMap.css';

const WorldMap = lazy(async () => ({ default: (await import('./WorldMap.tsx')).WorldMap }));

/** Keeps the place of the map while its code and its outlines arrive. */
export function MapFrame(props: WorldMapProps) {
  return (
    <div className="map" data-shape={props.shape}>
      <Suspense fallback={null}>
        <WorldMap {...props} />
      </Suspense>
    </div>
  );
}
