// The package http_ece has no types; this is what is used of it.
declare module 'http_ece' {
  export function decrypt(body: Buffer, params: object): Buffer;
}
