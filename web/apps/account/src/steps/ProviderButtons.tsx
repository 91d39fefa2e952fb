import { useState } from 'react';
import type { Provider } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import type { Flow } from '../flow/useFlow.ts';
import { WithProviderTexts } from '../page/WithProviderTexts.tsx';

/** The identity providers of the site, each a way in. */
export function ProviderButtons({ providers, flow }: { providers: readonly Provider[]; flow: Flow }) {
  const [chosen, setChosen] = useState('');
  if (providers.length === 0) return null;
  const places = providers.map(({ id }) => <div key={id} className="step-way" />);
  return (
    <WithProviderTexts waiting={places}>
      {(texts) =>
        providers.map(({ id, label }) => (
          <div key={id} className="step-way">
            <Button
              wide
              pending={flow.sending === 'PROVIDER' && chosen === id}
              onPress={() => {
                setChosen(id);
                flow.send({ type: 'PROVIDER', id });
              }}
            >
              {texts.continueWith({ provider: label })}
            </Button>
          </div>
        ))
      }
    </WithProviderTexts>
  );
}
