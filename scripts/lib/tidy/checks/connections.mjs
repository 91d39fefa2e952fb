// Connections go out at named places only: what calls an address that somebody else chose takes the way out
// (decision 25), and no second one comes into being beside it. Servers accept wherever they like.
import { itemsOf } from '../rust-items.mjs';
import { tokensOf } from '../rust-tokens.mjs';

/** Places that connect, and to what. A folder ends with a slash. */
const places = new Map([
  ['crates/outbound/src/reach/', 'an address that was checked'],
  ['crates/outbound/src/smtp.rs', "the operator's mail server"],
  ['crates/store/src/postgres/', "the operator's database"],
  ['crates/server/src/forward.rs', 'the receiver that a person names to the command line, which posts to it by itself'],
  ['crates/server/src/remote.rs', 'the server that a person names to the command line, which asks it by itself'],
  ['crates/server/src/socket.rs', 'the command socket of this machine'],
]);
/** What runs tests and measures is not the program. */
const isTest = (file) => /^(?:tests|bench|fuzz|crates\/testkit)\/|^crates\/[^/]+\/tests\//.test(file);

/** Libraries that connect. */
const clients = new Set([
  ...['attohttpc', 'awc', 'curl', 'hickory_resolver', 'isahc', 'lettre', 'minreq', 'redis'],
  ...['reqwest', 'socket2', 'surf', 'tokio_tungstenite', 'tungstenite', 'ureq'],
]);
/** Modules of others that do. */
const modules = ['hyper::client', 'hyper_util::client'];
/** Types and functions whose only use is to connect, to send, or to find out where to. */
const words = new Set(['TcpSocket', 'UdpSocket', 'UnixDatagram', 'lookup_host', 'ToSocketAddrs', 'to_socket_addrs']);
/** Types that connect and accept. */
const streams = new Set(['TcpStream', 'UnixStream']);
const isConnecting = (name) => /^connect(?:_|$)/.test(name);

export function connections(tree, find) {
  const used = new Set();
  const found = new Set();
  for (const file of tree.files.filter((it) => /^(?:crates|tests|bench|fuzz)\/.*\.rs$/.test(it) && !isTest(it)))
    for (const { line, what } of connecting(tree.cached(`items ${file}`, () => itemsOf(tokensOf(tree, file))))) {
      const place = [...places.keys()].find((it) => (it.endsWith('/') ? file.startsWith(it) : file === it));
      used.add(place);
      // Once a line.
      if (!place && !found.has(`${file}:${line}`))
        find(file, line, `${what} opens a connection; the way out is outbound::Reach (decision 25)`);
      found.add(`${file}:${line}`);
    }
  for (const [place, to] of places)
    if (!used.has(place) && isThere(tree, place))
      find(place, 0, `may connect to ${to} and does not: take it out of the list`);
}

const isThere = (tree, place) => (place.endsWith('/') ? tree.hasFolder(place.slice(0, -1)) : tree.has(place));

/** `{ line, what }` of all that connects in a file, `#[cfg(test)]` left out. */
function connecting(items) {
  const found = items.calls
    .filter((it) => isConnecting(it.name) || words.has(it.name))
    .map((it) => ({ line: it.line, what: `.${it.name}()` }));
  const visit = (module) => {
    for (const { path, line, name } of [...module.paths, ...module.imports])
      if (connects(path) || isRenamed(path, name)) found.push({ line, what: path.join('::') });
    for (const [word, line] of module.words) if (words.has(word)) found.push({ line, what: word });
    module.inline.forEach(visit);
  };
  visit(items.root);
  return found;
}

function connects(path) {
  const text = path.join('::');
  return (
    clients.has(path[0]) ||
    modules.some((it) => text === it || text.startsWith(`${it}::`)) ||
    path.some((it) => words.has(it)) ||
    (isConnecting(path.at(-1)) && (streams.has(path.at(-2)) || path[0] === 'tokio_postgres'))
  );
}

/** Under another name it would not be found. */
const isRenamed = (path, name) => name !== undefined && streams.has(path.at(-1)) && name !== path.at(-1);
