import { describe, expect, test } from 'vitest';

import type { StoaError } from '../src/index.ts';
import { EventParser, type ServerEvent } from '../src/sse.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);

function parse(pieces: readonly Uint8Array[]): ServerEvent[] {
  const parser = new EventParser();
  return pieces.flatMap((piece) => parser.push(piece));
}

const stream = [
  '\uFEFFevent: snapshot\r\ndata: {"key":"a"}\r\n\r\n',
  ': a comment\n\n',
  'id: 7:é𐀀\revent:change\rdata:one\rdata: two\r\r',
  'data\ndata:  three\nretry: 5\nunknown: x\n\n',
  'id: 8\n\n',
  'event: nothing\n\n',
  'id: a\0b\ndata: 😀\n\n',
  'event: cut off\ndata: x\n',
].join('');

const expected: ServerEvent[] = [
  { name: 'snapshot', data: '{"key":"a"}', id: null },
  { name: 'change', data: 'one\ntwo', id: '7:é𐀀' },
  { name: 'message', data: '\n three', id: null },
  { name: 'message', data: '', id: '8' },
  { name: 'message', data: '😀', id: null },
];

describe('server-sent events', () => {
  test('one piece', () => {
    expect(parse([bytesOf(stream)])).toEqual(expected);
  });

  test('two pieces, cut anywhere', () => {
    const bytes = bytesOf(stream);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(parse([bytes.subarray(0, cut), bytes.subarray(cut)]), `cut at ${cut}`).toEqual(expected);
    }
  });

  test('three pieces, cut anywhere', () => {
    const bytes = bytesOf(stream.slice(0, 60));
    const whole = parse([bytes]);
    for (let first = 0; first <= bytes.length; first += 1) {
      for (let second = first; second <= bytes.length; second += 1) {
        const pieces = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
        expect(parse(pieces), `cut at ${first} and ${second}`).toEqual(whole);
      }
    }
  });

  test('single bytes, with every kind of line end', () => {
    for (const end of ['\n', '\r', '\r\n']) {
      const bytes = bytesOf(`\uFEFF:x${end}data: ä${end}data: b${end}${end}id: 1${end}data: c${end}${end}`);
      expect(parse([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual([
        { name: 'message', data: 'ä\nb', id: null },
        { name: 'message', data: 'c', id: '1' },
      ]);
    }
  });

  test('a block has a bound, wherever its length comes from; comments have none together', () => {
    const tooLong = (text: string) => () => new EventParser(100).push(bytesOf(text));
    for (const text of [`data: ${'x'.repeat(100)}`, `data: ${'x'.repeat(60)}\ndata: ${'x'.repeat(60)}`]) {
      expect(tooLong(text)).toThrow(expect.objectContaining({ code: 'UNREADABLE' }) as StoaError);
    }
    const parser = new EventParser(100);
    for (let n = 0; n < 1000; n += 1) expect(parser.push(bytesOf(`: ${'x'.repeat(80)}\n`))).toEqual([]);
    expect(parser.push(bytesOf('data: still\n\n'))).toEqual([{ name: 'message', data: 'still', id: null }]);
  });
});
