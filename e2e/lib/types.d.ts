// What a test puts into a page's window.
declare global {
  interface Window {
    axe: typeof import('axe-core');
  }
}

export {};
