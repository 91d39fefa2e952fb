/** base64url without padding (RFC 4648, section 5). */

export function base64url(bytes: Uint8Array): string {
  let binary = '';
  // In chunks: the number of arguments of one call is limited.
  for (let at = 0; at < bytes.length; at += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
