#!/usr/bin/env node
// Opens the address that a command printed, as a person does who got it, in Chromium: the page behind the link of an
// invitation, where the password is set. It fails unless the browser is signed in afterwards.
//
//   scripts/lib/follow-link.mjs FILE       FILE has what was printed
import { readFileSync } from 'node:fs';
import { launchBrowser } from '../../e2e/lib/browser.mjs';
import { newCredentials, title } from '../../e2e/lib/steps.mjs';

const [link] = readFileSync(process.argv[2], 'utf8').match(/https?:\/\/\S+/) ?? [];
if (!link) throw new Error(`no address stands in ${process.argv[2]}`);
const browser = await launchBrowser();
try {
  await browser.visit({}, async (page) => {
    await page.goto(link);
    await page.getByLabel('Password', { exact: true }).fill(newCredentials().password);
    await page.getByRole('button', { name: 'Save password' }).click();
    await title(page, 'You are ready').waitFor();
    await page.getByRole('link', { name: 'Password and sign-ins' }).click();
    await page.getByText('This browser').waitFor();
  });
} finally {
  await browser.close();
}
