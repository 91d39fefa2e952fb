// The check is checked: a small description, exchanges that fit it, and what is planted to be found.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { allowedBy } from './lib/allowed.mjs';
import { checker } from './lib/check.mjs';
import { exchangesOf, filesBelow } from './lib/exchanges.mjs';

const error = (codes) => ({
  description: 'Refused.',
  'x-codes': codes,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorBody' } } },
});

const answer = (schema) => ({
  description: 'Done.',
  headers: { 'x-wix-request-id': { required: true, schema: { type: 'string', minLength: 3 } } },
  content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
});

const description = {
  openapi: '3.1.0',
  info: { title: 'Things', version: '1' },
  'x-not-built': ['/v2/drafts/{id}'],
  paths: {
    '/v2/things': {
      post: {
        operationId: 'thingInsert',
        'x-aliases': ['/alias/v2/things', '/v2/Things'],
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/ThingRequest' } } } },
        responses: {
          200: answer('ThingResponse'),
          401: { $ref: '#/components/responses/Unauthenticated' },
          409: error(['EXISTS', 'TOO_MANY']),
        },
      },
    },
    '/v2/things/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      get: {
        operationId: 'thingGet',
        'x-aliases': ['/alias/v2/things/{id}'],
        parameters: [
          { name: 'fields', in: 'query', schema: { type: 'array', items: { enum: ['NAME', 'SIZE'] } } },
          { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1 } },
        ],
        responses: {
          200: answer('ThingResponse'),
          304: { description: 'As before.' },
          401: { $ref: '#/components/responses/Unauthenticated' },
        },
      },
      delete: {
        operationId: 'thingDelete',
        'x-aliases': ['/alias/v2/things/{id}'],
        responses: { 204: { description: 'Gone.' } },
      },
    },
    '/oauth2/token': {
      post: {
        operationId: 'tokenCreate',
        'x-aliases': ['/alias/oauth2/token'],
        requestBody: {
          required: true,
          content: {
            'application/json': { schema: { $ref: '#/components/schemas/Grant' } },
            'application/x-www-form-urlencoded': { schema: { $ref: '#/components/schemas/Grant' } },
          },
        },
        responses: { 200: { description: 'Tokens.', content: { 'application/json': { schema: {} } } } },
      },
    },
  },
  components: {
    responses: { Unauthenticated: error(['UNAUTHENTICATED']) },
    schemas: {
      Base: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      Thing: {
        allOf: [
          { $ref: '#/components/schemas/Base' },
          {
            type: 'object',
            properties: { size: { type: 'integer' }, data: { type: 'object', 'x-free-form': 'is the caller’s' } },
          },
        ],
      },
      ThingRequest: {
        type: 'object',
        properties: {
          thing: { $ref: '#/components/schemas/Thing' },
          tags: { type: 'object', additionalProperties: { type: 'string' } },
        },
        required: ['thing'],
      },
      ThingResponse: {
        type: 'object',
        properties: { thing: { $ref: '#/components/schemas/Thing' } },
        required: ['thing'],
        additionalProperties: false,
      },
      Grant: {
        type: 'object',
        properties: { grantType: { type: 'string' }, life: { type: 'integer' } },
        required: ['grantType'],
      },
      ErrorBody: {
        type: 'object',
        properties: { message: { type: 'string' }, details: { type: 'object', 'x-free-form': 'differs by code' } },
        required: ['message', 'details'],
      },
    },
  },
};

const body = (value) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { text, size: text.length, isWhole: true };
};

const JSON_HEADERS = { 'content-type': 'application/json', 'x-wix-request-id': 'abc-1' };

/** An exchange: `POST /v2/things 200`, with what is different. */
function exchange(line, it = {}) {
  const { test = 'a_test', asked, answered, query = null, route, headers = {}, sends = 'application/json', as } = it;
  const [method, path, status] = line.split(' ');
  const routes = { '/v2/things': '/v2/things', '/oauth2/token': '/oauth2/token' };
  return {
    test,
    method,
    path: as ?? `/alias${path}`,
    query,
    canonical: path,
    route: route === undefined ? (routes[path] ?? '/v2/things/{*id}') : route,
    request: {
      headers: asked === undefined ? {} : { 'content-type': sends },
      body: asked === undefined ? null : body(asked),
    },
    status: Number(status),
    response: {
      headers: answered === undefined ? { 'x-wix-request-id': 'abc-1' } : { ...JSON_HEADERS, ...headers },
      body: answered === undefined ? null : body(answered),
    },
  };
}

const refused = (code) => ({ message: code, details: { applicationError: { code, description: code, data: {} } } });
const thing = { id: 'a', size: 1, data: { anything: [1] } };

/** Exchanges that bring about all that is described. */
const whole = () => [
  exchange('POST /v2/things 200', { asked: { thing, tags: { a: 'b' } }, answered: { thing } }),
  exchange('POST /v2/things 409', { asked: { thing }, answered: refused('EXISTS') }),
  exchange('POST /v2/things 409', { asked: 'no JSON at all', answered: refused('TOO_MANY') }),
  exchange('GET /v2/things/a/b 200', { query: 'fields=NAME&fields=SIZE&limit=5', answered: { thing } }),
  exchange('GET /v2/things/a 304'),
  exchange('GET /v2/things/a 401', { answered: refused('UNAUTHENTICATED') }),
  exchange('DELETE /v2/things/a 204'),
  exchange('POST /oauth2/token 200', { asked: { grantType: 'x', life: 5 }, answered: {} }),
  exchange('POST /oauth2/token 200', {
    asked: 'grantType=x&life=5',
    sends: 'application/x-www-form-urlencoded; charset=utf-8',
    answered: { access_token: 'what is described as anything' },
  }),
];

/** What is found in exchanges, a line each. */
function found(exchanges, { allowed = {}, document = description } = {}) {
  const check = checker(document, allowedBy(allowed));
  for (const it of exchanges) check.see(it);
  const { misfits, missing, idle } = check.result();
  const name = ({ operation, status, code }) =>
    ['unproduced', operation, status, code].filter((it) => it !== undefined).join(' ');
  return [
    ...misfits.map(({ operation, text }) => `${operation}: ${text}`),
    ...missing.map(name),
    ...idle.map((it) => `idle ${it.operation ?? it.path ?? it.test}`),
  ];
}

/** What is found when these come besides. */
const besides = (...more) => found([...whole(), ...more]);

test('what fits is not found', () => {
  assert.deepEqual(found(whole()), []);
});

test('an unknown member is found, in an answer and in a request that was taken', () => {
  const more = { thing, more: 1 };
  assert.deepEqual(besides(exchange('POST /v2/things 200', { asked: { thing }, answered: more })), [
    'thingInsert: 200: the whole: the member "more" is not described',
  ]);
  const nested = { thing: { ...thing, colour: 'red' } };
  assert.deepEqual(besides(exchange('GET /v2/things/a 200', { answered: nested })), [
    'thingGet: 200: thing: the member "colour" is not described',
  ]);
  for (const [asked, at] of [
    [more, 'the whole: the member "more"'],
    [nested, 'thing: the member "colour"'],
  ])
    assert.deepEqual(besides(exchange('POST /v2/things 200', { asked, answered: { thing } })), [
      `thingInsert: request: ${at} is not described`,
    ]);
  assert.deepEqual(besides(exchange('POST /v2/things 409', { asked: more, answered: refused('EXISTS') })), []);
});

test('a value of another kind is found with its place', () => {
  const answered = { thing: { id: 7, size: 'x' } };
  assert.deepEqual(besides(exchange('GET /v2/things/a 200', { answered })), [
    'thingGet: 200: thing.id: must be string',
    'thingGet: 200: thing.size: must be integer',
  ]);
  assert.deepEqual(besides(exchange('GET /v2/things/a 200', { answered: {} })), [
    "thingGet: 200: the whole: must have required property 'thing'",
  ]);
});

test('a status that is not described is found', () => {
  assert.deepEqual(besides(exchange('DELETE /v2/things/a 404', { answered: refused('NOT_FOUND') })), [
    'thingDelete: the status 404 (NOT_FOUND) is not described',
  ]);
});

test('a code that is not described is found', () => {
  assert.deepEqual(besides(exchange('POST /v2/things 409', { asked: {}, answered: refused('REVISION') })), [
    'thingInsert: 409: the code REVISION is not described',
  ]);
});

test('an operation that no test asks for is found', () => {
  const exchanges = whole().filter((it) => it.method !== 'DELETE');
  assert.deepEqual(found(exchanges), ['unproduced thingDelete']);
});

test('a status or code that no test brings about is found', () => {
  const without = (text) => whole().filter((it) => !JSON.stringify(it).includes(text));
  assert.deepEqual(found(without('TOO_MANY')), ['unproduced thingInsert 409 TOO_MANY']);
  assert.deepEqual(found(without('"status":304')), ['unproduced thingGet 304']);
  assert.deepEqual(found(without('UNAUTHENTICATED')), ['unproduced * 401 UNAUTHENTICATED'], 'one is enough for all');
});

test('an operation that is not described is found', () => {
  const planted = exchange('POST /v2/planted 200', { route: '/v2/planted', answered: {} });
  assert.deepEqual(besides(planted), ['POST /v2/planted: answers 200, and no operation is described']);
  const aside = { undescribed: [{ path: '/v2/planted', why: 'is planted by a test' }] };
  assert.deepEqual(found([...whole(), planted], { allowed: aside }), []);
});

test('what nothing answers is refused in the common form', () => {
  const unknown = (answered) => exchange('GET /v2/nothing/here 404', { route: null, answered });
  assert.deepEqual(besides(unknown(refused('NOT_FOUND'))), []);
  assert.deepEqual(
    besides(exchange('PUT /v2/things 405', { route: null, answered: refused('METHOD_NOT_ALLOWED') })),
    [],
  );
  assert.deepEqual(besides(exchange('OPTIONS /v2/things 204', { route: null })), []);
  assert.deepEqual(besides(exchange('GET /atlas/cities 200', { route: 'pages' })), []);
  assert.deepEqual(besides(unknown({ ...refused('NOT_FOUND'), more: 1 })), [
    'GET /v2/nothing/here: the whole: the member "more" is not described',
  ]);
});

test('a path belongs to the operation of its method', () => {
  // An item that is called like a call.
  const named = exchange('DELETE /v2/things 204', { route: '/v2/things' });
  assert.deepEqual(besides(named), ['DELETE /v2/things: answers 204, and no operation is described']);
  const item = exchange('DELETE /v2/things/query 204', { route: '/v2/things/query' });
  assert.deepEqual(besides(item), []);
  assert.deepEqual(besides(exchange('HEAD /v2/things/a 200')), [], 'an answer to HEAD has no body');
});

test('another spelling of a path is an alias, and one that is not described is found', () => {
  const sent = { asked: { thing }, answered: { thing } };
  assert.deepEqual(
    besides(exchange('POST /v2/Things 200', { ...sent, route: '/v2/Things', as: '/s/abc-1/v2/Things' })),
    [],
  );
  assert.deepEqual(besides(exchange('POST /v2/things 200', { ...sent, as: '/other/v2/things' })), [
    'thingInsert: request: the path that was sent is no alias of it',
  ]);
});

test('what is not built says so', () => {
  const draft = (code) => exchange('POST /v2/drafts/a 428', { route: null, answered: refused(code) });
  assert.deepEqual(besides(draft('WDE0119')), []);
  assert.equal(besides(draft('WDE0080')).length, 1);
  const elsewhere = exchange('POST /v2/draughts/a 428', { route: null, answered: refused('WDE0119') });
  assert.equal(besides(elsewhere).length, 1);
});

test('content types and headers are compared', () => {
  const html = { answered: '<p>', headers: { 'content-type': 'text/html' } };
  assert.deepEqual(besides(exchange('GET /v2/things/a 200', html)), [
    'thingGet: 200: the content type text/html is none of application/json',
  ]);
  assert.deepEqual(
    besides(exchange('GET /v2/things/a 200', { answered: { thing }, headers: { 'x-wix-request-id': 'a' } })),
    ['thingGet: 200: the header x-wix-request-id: the whole: must NOT have fewer than 3 characters'],
  );
  const bare = exchange('GET /v2/things/a 200', { answered: { thing } });
  delete bare.response.headers['x-wix-request-id'];
  assert.deepEqual(besides(bare), ['thingGet: 200: the header x-wix-request-id is missing']);
  assert.deepEqual(besides(exchange('GET /v2/things/a 200')), ['thingGet: 200: has no body, and one is described']);
  assert.deepEqual(besides(exchange('GET /v2/things/a 200', { answered: '{' })).length, 1);
});

test('messages of a stream are compared one by one, as far as they were kept', () => {
  const document = structuredClone(description);
  const message = {
    type: 'object',
    properties: { event: { const: 'change' }, id: { type: 'string' }, data: { $ref: '#/components/schemas/Base' } },
    required: ['event', 'data'],
  };
  document.paths['/v2/things'].post.responses[200].content = {
    'text/event-stream': { schema: { type: 'string' }, 'x-item-schema': message },
  };
  const streamed = (text, isWhole = true) => {
    const it = exchange('POST /v2/things 200', {
      asked: { thing },
      answered: text,
      headers: { 'content-type': 'text/event-stream' },
    });
    it.response.body.isWhole = isWhole;
    const others = whole().filter((it) => it.method !== 'POST' || it.canonical !== '/v2/things' || it.status !== 200);
    return found([...others, it], { document });
  };
  const good = ': \n\nid: 5\nevent: change\ndata: {"id":"a"}\n\n';
  assert.deepEqual(streamed(good), []);
  assert.deepEqual(streamed(`${good}event: change\ndata: {"id"`, false), [], 'what was cut is no message');
  assert.deepEqual(streamed('', false), []);
  assert.deepEqual(streamed(`${good}event: change\ndata: {"id":7}\n\n`), ['thingInsert: 200: data.id: must be string']);
  assert.deepEqual(streamed(`${good}event: change\ndata: {"id":"a","more":1}\n\n`), [
    'thingInsert: 200: data: the member "more" is not described',
  ]);
  assert.deepEqual(streamed('event: other\ndata: {"id":"a"}\n\n'), ['thingInsert: 200: event: is not "change"']);
  assert.equal(streamed('event: change\ndata: {\n\n').length, 1);
  assert.equal(streamed('event: change\nevent: change\ndata: {"id":"a"}\n\n').length, 1);
});

test('parameters of the query are compared', () => {
  const asked = (query) => besides(exchange('GET /v2/things/a 200', { query, answered: { thing } }));
  assert.deepEqual(asked('fields=NAME'), [], 'one of several');
  assert.deepEqual(asked('colour=red'), ['thingGet: request: the parameter colour in the query is not described']);
  assert.deepEqual(asked('limit=0'), ['thingGet: request: the parameter limit: the whole: must be >= 1']);
  assert.equal(asked('limit=many').length, 1);
  assert.equal(asked('fields=AGE').length, 1);
  const inOne = (value) => asked(`.r=${Buffer.from(JSON.stringify(value)).toString('base64url')}`);
  assert.deepEqual(inOne({ fields: ['NAME'], limit: 5 }), []);
  assert.deepEqual(inOne({ page: { size: 5 } }), [
    'thingGet: request: the parameter page.size in the query is not described',
  ]);
});

test('members of what may be asked in one value of the query may stand there by their paths', () => {
  const document = structuredClone(description);
  document.paths['/v2/things/{id}'].get.parameters.push({
    name: '.r',
    in: 'query',
    schema: { type: 'string', contentSchema: { type: 'object', properties: { query: { type: 'object' } } } },
  });
  const asked = (query) =>
    found([...whole(), exchange('GET /v2/things/a 200', { query, answered: { thing } })], { document });
  assert.deepEqual(asked('query.filter.a=1&limit=0'), [
    'thingGet: request: the parameter limit: the whole: must be >= 1',
  ]);
  assert.deepEqual(asked('order.a=1'), ['thingGet: request: the parameter order.a in the query is not described']);
});

test('what stands in the path may be repeated in the query and in the body', () => {
  const asked = (query) => besides(exchange('GET /v2/things/a 200', { query, answered: { thing } }));
  assert.deepEqual(asked('thingId=a'), []);
  assert.deepEqual(asked('thingId=b'), ['thingGet: request: the parameter thingId in the query is not described']);
});

test('what is missing in a request is found', () => {
  assert.deepEqual(besides(exchange('POST /oauth2/token 200', { answered: {} })), [
    'tokenCreate: request: there is no body',
  ]);
  assert.deepEqual(
    besides(exchange('POST /oauth2/token 200', { asked: 'life=x', sends: 'text/plain', answered: {} })),
    [
      'tokenCreate: request: the content type text/plain is none of application/json, application/x-www-form-urlencoded',
    ],
  );
  assert.deepEqual(besides(exchange('DELETE /v2/things/a 204', { asked: {} })), [
    'thingDelete: request: there is a body, and none is described',
  ]);
});

test('tests of malformed requests are compared by their answers alone', () => {
  const asked = { thing, more: 1 };
  const malformed = { test: 'malformed::unknown::sqlite', asked, answered: { thing } };
  assert.deepEqual(besides(exchange('POST /v2/things 200', malformed)), []);
  assert.equal(besides(exchange('POST /v2/things 200', { ...malformed, answered: { thing, more: 1 } })).length, 1);
  const lenient = { lenient: [{ test: 'old_clients::', why: 'sends what clients of last year sent' }] };
  const old = exchange('POST /v2/things 200', { test: 'old_clients::sqlite', asked, answered: { thing } });
  assert.deepEqual(found([...whole(), old], { allowed: lenient }), []);
  assert.deepEqual(found(whole(), { allowed: lenient }), ['idle old_clients::']);
});

test('what is allowed must be needed, and says why', () => {
  const list = (it) => ({ unproduced: [{ ...it, why: 'takes a disk that is full' }] });
  const pair = { operation: 'thingInsert', status: 409, code: 'TOO_MANY' };
  const without = whole().filter((it) => !JSON.stringify(it).includes('TOO_MANY'));
  assert.deepEqual(found(without, { allowed: list(pair) }), []);
  assert.deepEqual(found(whole(), { allowed: list(pair) }), ['idle thingInsert']);
  assert.throws(() => allowedBy({ unproduced: [pair] }), /no reason/);
});

test('a body that is not whole is not compared', () => {
  const long = exchange('GET /v2/things/a 200', { answered: { more: 1 } });
  long.response.body.isWhole = false;
  const check = checker(description, allowedBy({}));
  for (const it of [...whole(), long]) check.see(it);
  const { misfits, counts } = check.result();
  assert.deepEqual([misfits, counts.cut], [[], 1]);
});

test('a code of a shared response is shared where it stands among others too', () => {
  const document = structuredClone(description);
  const responses = document.paths['/v2/things/{id}'].delete.responses;
  responses[409] = error(['UNAUTHENTICATED', 'EXISTS']);
  const missing = whole().filter((it) => it.status !== 401);
  assert.deepEqual(found(missing, { document }), [
    'unproduced * 401 UNAUTHENTICATED',
    'unproduced * 409 UNAUTHENTICATED',
    'unproduced thingDelete 409 EXISTS',
  ]);
});

test('files are read line by line, and the last one without its end is left out', () => {
  const folder = mkdtempSync(join(tmpdir(), 'traffic-'));
  try {
    mkdirSync(join(folder, 'of a test'));
    const lines = Array.from({ length: 5_000 }, (_, n) => JSON.stringify({ n, text: 'é'.repeat(n % 700) }));
    const file = join(folder, 'of a test', '1.jsonl');
    writeFileSync(file, `${lines.join('\n')}\n{"n":`);
    assert.deepEqual(filesBelow(folder), [file]);
    assert.deepEqual(
      [...exchangesOf(file)],
      lines.map((it) => JSON.parse(it)),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the command fails with findings, and without exchanges', () => {
  const folder = mkdtempSync(join(tmpdir(), 'traffic-'));
  const files = { document: join(folder, 'openapi.json'), allowed: join(folder, 'allowed.json') };
  writeFileSync(files.document, JSON.stringify(description));
  writeFileSync(files.allowed, '{}');
  const run = (exchanges) => {
    const traffic = mkdtempSync(join(folder, 'traffic-'));
    if (exchanges) writeFileSync(join(traffic, '1.jsonl'), exchanges.map((it) => `${JSON.stringify(it)}\n`).join(''));
    const program = join(dirname(fileURLToPath(import.meta.url)), 'check.mjs');
    const args = [program, '--document', files.document, '--allowed', files.allowed, traffic];
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    return { status, stdout };
  };
  try {
    const fits = run(whole());
    assert.equal(fits.status, 0, fits.stdout);
    assert.match(fits.stdout, /4 of 4 operations\n1 files in .* 0 findings/);
    const planted = run([...whole(), exchange('POST /v2/things 500', { answered: refused('INTERNAL') })]);
    assert.equal(planted.status, 1);
    assert.match(planted.stdout, /the status 500 \(INTERNAL\) is not described\n {4}first in a_test: POST \/alias/);
    assert.equal(run([...whole(), { isFull: true }]).status, 1);
    assert.equal(run(undefined).status, 1);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
