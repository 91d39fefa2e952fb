import { cleanup, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import axe from 'axe-core';
import { useState } from 'react';
import { afterEach, expect, it, vi } from 'vitest';
import {
  Button,
  Callout,
  Cell,
  CodeField,
  ColumnHead,
  CopyableId,
  EmptyState,
  ErrorState,
  Form,
  Link,
  Logo,
  ProblemSummary,
  SearchField,
  Select,
  Spinner,
  Table,
  TextField,
  digitsOf,
} from '../index.ts';

afterEach(cleanup);

// jsdom has no CSS.escape.
vi.stubGlobal('CSS', { escape: (text: string) => text.replace(/[^\w-]/g, '\\$&') });

it('digits are kept in whatever script they are written', () => {
  expect(digitsOf('١٢٣ ۴۵６ x')).toBe('123456');
});

it('a button that cannot be used says why, stays reachable and does nothing', async () => {
  let pressed = 0;
  render(
    <Button
      disabledReason="Save first."
      onPress={() => {
        pressed += 1;
      }}
    >
      Publish
    </Button>,
  );
  const button = screen.getByRole('button', { name: 'Publish' });
  await userEvent.click(button);
  expect(pressed).toBe(0);
  expect(button.getAttribute('aria-disabled')).toBe('true');
  expect(document.getElementById(button.getAttribute('aria-describedby') ?? '')?.textContent).toBe('Save first.');
});

it('a pending button keeps its name and does nothing', async () => {
  let pressed = 0;
  render(
    <Button
      pending
      onPress={() => {
        pressed += 1;
      }}
    >
      Save
    </Button>,
  );
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  expect(pressed).toBe(0);
});

it('a select answers the value that was chosen, by keyboard', async () => {
  function Host() {
    const [value, setValue] = useState<'a' | 'b' | null>(null);
    return (
      <>
        <Select
          label="Kind"
          options={[
            { value: 'a', label: 'First' },
            { value: 'b', label: 'Second' },
          ]}
          value={value}
          onChange={setValue}
        />
        <output>{value}</output>
      </>
    );
  }
  render(<Host />);
  await userEvent.tab();
  await userEvent.keyboard('{ArrowDown}');
  await userEvent.click(await screen.findByRole('option', { name: 'Second' }));
  await waitFor(() => {
    expect(document.querySelector('output')?.textContent).toBe('b');
  });
});

it('a code field answers once when it is full', async () => {
  const full: string[] = [];
  function Host() {
    const [code, setCode] = useState('');
    return (
      <CodeField
        label="Code"
        value={code}
        onChange={setCode}
        onComplete={(it) => {
          full.push(it);
        }}
      />
    );
  }
  render(<Host />);
  await userEvent.type(screen.getByRole('textbox', { name: 'Code' }), '12a34567');
  expect(full).toEqual(['123456']);
});

it('axe finds nothing in the parts', async () => {
  render(
    <main>
      <h1>
        <Logo />
      </h1>
      <Spinner label="Loading" />
      <Callout tone="warn" title="Note">
        Text
      </Callout>
      <Form onSubmit={() => undefined}>
        <ProblemSummary
          title="Check"
          problems={[
            { key: 'a', text: 'One' },
            { key: 'b', text: 'Two', onGo: () => undefined },
          ]}
        />
        <TextField label="Name" help="As in your passport" error="Too short" />
        <SearchField label="Search" clearLabel="Clear" />
        <Select label="Kind" options={[{ value: 'a', label: 'First' }]} value="a" onChange={() => undefined} />
      </Form>
      <p>
        See <Link href="/x">more</Link>.
      </p>
      <EmptyState title="No cities yet">Import some to see them here.</EmptyState>
      <ErrorState title="It broke">Try again.</ErrorState>
      <Table caption="Cities">
        <thead>
          <tr>
            <ColumnHead sort="ascending" onSort={() => undefined}>
              Name
            </ColumnHead>
            <ColumnHead numeric>People</ColumnHead>
          </tr>
        </thead>
        <tbody>
          <tr>
            <Cell>
              <CopyableId value="c-1" copyLabel="Copy" copiedLabel="Copied" />
            </Cell>
            <Cell numeric>12</Cell>
          </tr>
        </tbody>
      </Table>
    </main>,
  );
  const { violations } = await axe.run(document.body, { rules: { 'color-contrast': { enabled: false } } });
  expect(violations.map((it) => `${it.id}: ${it.nodes.map((node) => node.html).join(' ')}`)).toEqual([]);
});
