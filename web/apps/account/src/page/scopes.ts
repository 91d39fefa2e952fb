import type { AllTexts } from '../text/later.ts';

/** What a scope opens, in words. One that these pages don't know is shown as it is. */
export function scopeText(text: AllTexts, scope: string): string {
  const [area = '', right = '', ...rest] = scope.split(':');
  const words = text.scope;
  const collection = rest.join(':');
  switch (`${area}:${right}${collection === '' ? '' : ':'}`) {
    case 'items:read':
      return words.itemsRead;
    case 'items:write':
      return words.itemsWrite;
    case 'items:read:':
      return words.itemsReadIn({ collection });
    case 'items:write:':
      return words.itemsWriteIn({ collection });
    case 'collections:read':
      return words.collectionsRead;
    case 'collections:write':
      return words.collectionsWrite;
    case 'collections:read:':
      return words.collectionsReadIn({ collection });
    case 'collections:write:':
      return words.collectionsWriteIn({ collection });
    case 'members:read':
      return words.membersRead;
    case 'members:write':
      return words.membersWrite;
    case 'members:sign-in':
      return words.membersSignIn;
    case 'site:read':
      return words.siteRead;
    case 'site:write':
      return words.siteWrite;
    default:
      return scope;
  }
}
