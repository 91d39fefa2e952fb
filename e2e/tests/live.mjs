// A member's journal in several windows: what is written in one shows in the others. How soon is measured in bench/src/realtime.rs.
import assert from 'node:assert/strict';
import { changeVisit, insertVisits, openJournal, removeVisit, stream } from '../lib/journal.mjs';
import { searchFor, signIn, signUp, writeVisit } from '../lib/steps.mjs';

/** @import { Locator, Page } from 'playwright-core' */
/** @import { Test } from '../lib/run-tests.mjs' */

/** The region that screen readers read out. @param {Page} page */
const announced = (page) => page.locator('[aria-live="polite"]').first();

/** @param {Page} page @param {string} note */
const editOf = (page, note) =>
  page
    .getByRole('listitem')
    .filter({ hasText: note })
    .getByRole('button', { name: /^Edit the visit/ });

/** @param {Locator} element */
const hasFocus = (element) => element.evaluate((it) => it === document.activeElement);

/** @type {Test[]} */
export const tests = [
  {
    name: 'live: a visit that is added, changed and removed in one window shows in the other, and to nobody else',
    run: ({ browser, url }) =>
      browser.visit({}, (page) =>
        browser.visit({}, async (stranger) => {
          const { email } = await signUp(page, url);
          const other = await page.context().newPage();
          await other.goto(url);
          await openJournal(page, url);
          await signUp(stranger, url);
          await openJournal(stranger, url);
          await stranger.getByText('Your first visit goes here').waitFor();

          const added = `The light on the river, ${email}`;
          await searchFor(other, 'lisb', /Lisbon/);
          await writeVisit(other, { note: added, day: '2024-05-17' });
          await page.getByText(added).waitFor();
          await announced(page)
            .getByText(/^The visit to Lisbon was added elsewhere/)
            .waitFor();

          await openJournal(other, url);
          await editOf(other, added).click();
          const changed = `${added}, and the tram`;
          await other.getByLabel(/^What do you want to remember\?/).fill(changed);
          await other.getByRole('button', { name: 'Save visit' }).click();
          await other.getByRole('dialog').waitFor({ state: 'detached' });
          await page.getByText(changed).waitFor();
          await announced(page)
            .getByText(/^The visit to Lisbon was changed elsewhere/)
            .waitFor();
          // The window that wrote it says that it did, not that another has.
          await announced(other)
            .getByText(/is in your journal/)
            .waitFor();

          await other.getByRole('button', { name: /^Remove the visit/ }).click();
          await other.getByText('The visit to Lisbon is removed.').first().waitFor();
          await page.getByText(changed).waitFor({ state: 'detached' });
          await announced(page)
            .getByText(/^The visit to Lisbon was removed elsewhere/)
            .waitFor();
          await other.getByRole('button', { name: 'Undo' }).click();
          await page.getByText(changed).waitFor();

          await stranger.getByText('Your first visit goes here').waitFor();
          assert.equal(await announced(stranger).innerText(), '');
          assert.equal(await stranger.getByText(added).count(), 0);
        }),
      ),
  },
  {
    name: 'live: what is being typed stays, with the focus, and may bring a removed visit back',
    run: ({ browser, url }) =>
      browser.visit({}, async (page) => {
        await signUp(page, url);
        const [id = ''] = await insertVisits(page, [{ visitedOn: '2024-05-17', note: 'as it was' }]);
        await openJournal(page, url);
        await editOf(page, 'as it was').click();
        const note = page.getByLabel(/^What do you want to remember\?/);
        await note.fill('as it will be');
        await insertVisits(page, [{ visitedOn: '2024-05-18', note: 'another one' }]);
        await page.getByText('another one').waitFor();
        await changeVisit(page, id, { visitedOn: '2024-05-17', note: 'as another window has it' });
        await page.getByText('This visit was changed elsewhere meanwhile').waitFor();
        await removeVisit(page, id);
        await page.getByText('This visit was removed elsewhere meanwhile').waitFor();
        assert.equal(await note.inputValue(), 'as it will be');
        assert.ok(await hasFocus(note));
        await page.keyboard.type('!');
        await page.getByRole('button', { name: 'Save visit' }).click();
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        await page.getByRole('listitem').getByText('as it will be!').waitFor();
        await page.getByRole('listitem').getByText('another one').waitFor();
      }),
  },
  {
    name: 'live: the focus and the place on the page stay where they are in the list',
    run: ({ browser, url }) =>
      browser.visit({}, async (page) => {
        await signUp(page, url);
        const days = Array.from({ length: 24 }, (_, n) => String(n + 1).padStart(2, '0'));
        const ids = await insertVisits(
          page,
          days.map((day) => ({ visitedOn: `2023-07-${day}`, note: `the ${day}` })),
        );
        const idOf = (/** @type {number} */ day) => ids[day - 1] ?? '';
        await openJournal(page, url);
        const edit = editOf(page, 'the 12');
        await edit.focus();
        const top = async () => Math.round((await edit.boundingBox())?.y ?? -1);
        const before = await top();
        assert.ok(before > 0);

        await insertVisits(page, [
          { visitedOn: '2024-01-01', note: 'a new year' },
          { visitedOn: '2023-07-30', note: 'the 30' },
        ]);
        await page.getByText('the 30').waitFor();
        assert.ok(Math.abs((await top()) - before) <= 1, `from ${before} to ${await top()}`);
        assert.ok(await hasFocus(edit));

        // It moves to another year, and the focus with it.
        await changeVisit(page, idOf(12), { visitedOn: '2022-07-12', note: 'the 12' });
        await page.getByRole('heading', { name: '2022' }).waitFor();
        assert.ok(await hasFocus(edit));
        // It goes, and the focus is on what stands in its place: the next, or the last.
        await removeVisit(page, idOf(12));
        await page.getByText('the 12').waitFor({ state: 'detached' });
        assert.ok(await hasFocus(editOf(page, 'the 01')));
        for (const day of [1, 2]) await removeVisit(page, idOf(day));
        await page.getByText('the 02').waitFor({ state: 'detached' });
        assert.ok(await hasFocus(editOf(page, 'the 03')));
      }),
  },
  {
    name: 'live: a window without a connection says so, works on, and makes up for what it missed',
    run: ({ browser, url }) =>
      browser.visit({}, (page) =>
        browser.visit({}, async (other) => {
          const credentials = await signUp(page, url);
          const [kept = '', gone = ''] = await insertVisits(page, [
            { visitedOn: '2024-05-17', note: 'is changed' },
            { visitedOn: '2024-05-16', note: 'is removed' },
          ]);
          await openJournal(page, url);
          await page.getByText('is removed').waitFor();
          await signIn(other, url, credentials);
          await openJournal(other, url);

          await page.context().setOffline(true);
          await page.getByText('Not connected.').last().waitFor();
          await removeVisit(other, gone);
          await changeVisit(other, kept, { visitedOn: '2024-05-17', note: 'was changed' });
          await insertVisits(other, [{ visitedOn: '2024-05-15', note: 'is new' }]);
          await other.getByText('is new').waitFor();
          assert.equal(await page.getByText('is removed').count(), 1);
          await editOf(page, 'is changed').click();
          await page.getByRole('button', { name: 'Cancel' }).click();

          const again = stream(page);
          await page.context().setOffline(false);
          await again;
          await page.getByText('is new').waitFor();
          await page.getByText('was changed').waitFor();
          assert.equal(await page.getByText('is removed').count(), 0);
          await page.locator('.live-state').waitFor({ state: 'detached' });
          await announced(page).getByText('3 changes were made elsewhere.').waitFor();
        }),
      ),
  },
  {
    name: 'live: signing out in one window ends what the other shows',
    run: ({ browser, url }) =>
      browser.visit({}, async (page) => {
        await signUp(page, url);
        await insertVisits(page, [{ visitedOn: '2024-05-17', note: 'mine alone' }]);
        await openJournal(page, url);
        await page.getByText('mine alone').waitFor();
        const other = await page.context().newPage();
        await openJournal(other, url);
        await other.getByText('mine alone').waitFor();
        await page.getByRole('banner').getByRole('button', { name: 'Sign out' }).click();
        await other.getByText('Keep a journal of your travels').waitFor();
        assert.equal(await other.getByText('mine alone').count(), 0);
      }),
  },
];
