// The form of a name that is searched: lower case, no accents, one space between words.
// The website folds what a visitor types by the same rule (src/text/fold.ts); a test holds the two together.

const LETTERS = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', þ: 'th', ł: 'l', ħ: 'h', ı: 'i', ŋ: 'n', ə: 'e' };

/** "São Tomé" → "sao tome", "Łódź" → "lodz". */
export function fold(text) {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[ßæœøđðþłħıŋə]/gu, (letter) => LETTERS[letter])
    .replace(/['’‘ʻʼ`]+/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
