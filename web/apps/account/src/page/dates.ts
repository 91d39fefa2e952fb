/** A moment, in the language of the page as the person's own region writes dates in it. */
export function writtenDate(iso: string, language: string): string {
  const primary = (tag: string) => tag.split('-')[0]?.toLowerCase();
  const regional = navigator.languages.find((it) => primary(it) === primary(language)) ?? language;
  return new Intl.DateTimeFormat(regional, { dateStyle: 'long', timeStyle: 'short' }).format(new Date(iso));
}
