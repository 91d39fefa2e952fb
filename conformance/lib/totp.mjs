// Codes of an authenticator (RFC 6238), by `oathtool` of OATH Toolkit: a reading of the standard that is not ours.
import { execFileSync } from 'node:child_process';

const PERIOD_S = 30;

export const currentStep = () => Math.floor(Date.now() / 1000 / PERIOD_S);

/** The next step of time in which a code counts, after one that was used. @param {number} last */
export async function stepAfter(last) {
  // A code of the step to come counts as well.
  while (currentStep() < last) await new Promise((resolve) => setTimeout(resolve, 1_000));
  return Math.max(currentStep(), last + 1);
}

/** @param {string} secret in base32 @param {number} step of time */
export const codeAt = (secret, step) =>
  execFileSync('oathtool', ['--totp', '--base32', `--now=@${step * PERIOD_S}`, secret], { encoding: 'utf8' }).trim();
