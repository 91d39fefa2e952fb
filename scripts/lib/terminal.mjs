// A command in a terminal of its own, as a person has one open beside their own: what it prints, and Ctrl-C. The
// terminal is made by `script` (bsdutils on Debian).
import { spawn } from 'node:child_process';

const STOP_LIMIT_MS = 30_000;

/** @typedef {ReturnType<typeof openTerminal>} Terminal */

/**
 * Runs a command in a shell on a terminal.
 * @param {string} command
 * @param {{ cwd: string, env?: NodeJS.ProcessEnv }} place
 */
export function openTerminal(command, { cwd, env = process.env }) {
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', command, '/dev/null'], {
    cwd,
    env: { ...env, TERM: 'dumb' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let raw = '';
  let hears = () => {};
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    raw += chunk;
    hears();
  });
  // Ctrl-C may come after the end.
  child.stdin.on('error', () => {});
  /** How it ended: a number, 128 and more for a signal, or why it could not be started. @type {Promise<number | string>} */
  const ended = new Promise((done) => {
    child.once('error', (error) => done(error.message));
    child.once('close', (code, signal) => done(code ?? signal ?? 'nothing'));
  });
  const printed = () => plain(raw);

  return {
    printed,

    /**
     * Waits for a line. Fails when the command ends before it, or the time is over.
     * @param {RegExp} line
     * @param {number} limitMs
     * @returns {Promise<RegExpExecArray>}
     */
    async waitFor(line, limitMs) {
      let timer;
      const found = new Promise((done, fail) => {
        const look = () => {
          const match = line.exec(printed());
          if (match) done(match);
        };
        hears = look;
        timer = setTimeout(() => fail(new Error(`${command}: not so far after ${limitMs} ms\n${printed()}`)), limitMs);
        void ended.then((how) => {
          look();
          fail(new Error(`${command}: ended with ${how}\n${printed()}`));
        });
        look();
      });
      try {
        return await found;
      } finally {
        clearTimeout(timer);
      }
    },

    /**
     * Presses Ctrl-C, which reaches every process of the terminal, and waits until the last one has ended. Answers
     * whether that was in time; if it was not, they are killed.
     */
    async interrupt() {
      child.stdin.write('\x03');
      const limit = new Promise((done) => setTimeout(done, STOP_LIMIT_MS, 'late').unref());
      const isInTime = (await Promise.race([ended, limit])) !== 'late';
      if (!isInTime) {
        // The terminal goes away with it, and what runs there gets SIGHUP.
        child.kill('SIGKILL');
        await ended;
      }
      return isInTime;
    },
  };
}

/** What stands on a terminal at last: lines that were erased or written over are gone. @param {string} raw */
export function plain(raw) {
  const stands = (line) => {
    const [left] = line.split('\x1b[2K').slice(-1);
    const [last] = left.replace(/\r+$/, '').split('\r').slice(-1);
    return last.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '');
  };
  return raw.split('\n').map(stands).join('\n');
}
