// Every row of the table, in the order in which they run.
import { rows as tokens } from './tokens.mjs';
import { rows as signIn } from './sign-in.mjs';
import { rows as identity } from './identity.mjs';
import { rows as providers } from './providers.mjs';
import { rows as browser } from './browser.mjs';
import { rows as collections } from './collections.mjs';
import { rows as items } from './items.mjs';
import { rows as operators } from './operators.mjs';
import { rows as errors } from './errors.mjs';
import { rows as references } from './references.mjs';
import { rows as permissions } from './permissions.mjs';
import { rows as indexes } from './indexes.mjs';
import { rows as itemsMany } from './items-many.mjs';
import { rows as aggregates } from './aggregates.mjs';
import { rows as draftItems } from './items-drafts.mjs';
import { rows as tasks } from './tasks.mjs';
import { rows as optionalData } from './data-optional.mjs';
import { rows as members } from './members.mjs';
import { rows as headless } from './headless.mjs';
import { rows as appKeys } from './app-keys.mjs';
import { rows as events } from './events.mjs';
import { rows as deliveries } from './deliveries.mjs';
import { rows as hooks } from './hooks.mjs';
import { rows as dataHooks } from './data-hooks.mjs';
import { rows as others } from './others.mjs';

export const allRows = [
  ...tokens,
  ...signIn,
  ...identity,
  ...providers,
  ...browser,
  ...collections,
  ...items,
  ...operators,
  ...errors,
  ...references,
  ...permissions,
  ...indexes,
  ...itemsMany,
  ...aggregates,
  ...draftItems,
  ...tasks,
  ...optionalData,
  ...members,
  ...headless,
  ...appKeys,
  ...events,
  ...deliveries,
  ...hooks,
  ...dataHooks,
  ...others,
];
