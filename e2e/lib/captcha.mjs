// A captcha provider on this machine: a script that draws a checkbox in a frame of its own, and the address that checks
// what it gave, each answer once.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';

/** @typedef {Awaited<ReturnType<typeof startProvider>>} Provider */

/** The script, with the calls of reCAPTCHA v2. */
const SCRIPT = `(() => {
  const address = new URL(document.currentScript.src);
  const drawn = new Map();
  const draw = (id) => {
    const { place, options } = drawn.get(id);
    const frame = document.createElement('iframe');
    frame.src = address.origin + '/frame?id=' + id + '&theme=' + options.theme + '&size=' + options.size;
    frame.title = 'A check by the provider of this test';
    frame.width = options.size === 'invisible' ? '0' : options.size === 'compact' ? '164' : '300';
    frame.height = options.size === 'invisible' ? '0' : '76';
    frame.style.border = '0';
    place.replaceChildren(frame);
  };
  addEventListener('message', (event) => {
    if (event.origin !== address.origin) return;
    const one = drawn.get(event.data.id);
    if (one) one.options.callback(event.data.token);
  });
  window.grecaptcha = {
    render: (place, options) => {
      const id = drawn.size;
      drawn.set(id, { place, options });
      if (options.size !== 'invisible') draw(id);
      return id;
    },
    reset: (id) => drawn.get(id).place.replaceChildren(),
    execute: (id) => draw(id),
  };
  window[address.searchParams.get('onload')]();
})();`;

/** @param {URLSearchParams} query */
function frame(query) {
  const isDark = query.get('theme') === 'dark';
  const style = `body{margin:8px;font:16px sans-serif;background:${isDark ? '#222' : '#fafafa'};color:${isDark ? '#eee' : '#222'}}
    label{display:flex;gap:8px;align-items:center;min-height:44px}`;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Check</title><style>${style}</style>
    <label><input type="checkbox"> I am a person</label>
    <script>
      const give = async () => {
        const token = await (await fetch('/token')).text();
        parent.postMessage({ id: ${Number(query.get('id'))}, token }, '*');
      };
      if (${query.get('size') === 'invisible'}) give();
      else document.querySelector('input').addEventListener('change', give);
    </script></html>`;
}

/** @param {string} secret that the server under test shows */
export async function startProvider(secret) {
  const tokens = new Set();
  /** @type {string[]} */
  const asked = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://provider');
    /** @param {string} type @param {string} body */
    const answer = (type, body) => response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(body);
    asked.push(pathname);
    if (pathname === '/api.js') answer('text/javascript', SCRIPT);
    else if (pathname === '/frame') answer('text/html', frame(searchParams));
    else if (pathname === '/token') {
      const token = randomBytes(12).toString('hex');
      tokens.add(token);
      answer('text/plain', token);
    } else {
      let form = '';
      request.on('data', (chunk) => (form += chunk));
      request.on('end', () => {
        const sent = new URLSearchParams(form);
        const isGood = sent.get('secret') === secret && tokens.delete(sent.get('response') ?? '');
        answer('application/json', JSON.stringify({ success: isGood }));
      });
    }
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', () => listening(undefined)));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the provider has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    /** The paths that were asked for so far. */
    asked,
    stop: () => new Promise((stopped) => server.close(() => stopped(undefined))),
  };
}
