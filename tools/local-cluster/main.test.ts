// Runs the whole demonstration with real processes, on a small part of the data.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Figures } from './figures.ts';

const MAIN = path.join(import.meta.dirname, 'main.ts');
const RECORDS = 1_000;
const PARTITIONS = 16;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'local-cluster-test-'));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(
  args: readonly string[],
  onStderr: (text: string, pid: number) => void,
  env: Readonly<Record<string, string>> = {},
): Promise<Run> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
    onStderr(stderr, child.pid ?? 0);
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })));
}

/** Returns the servers that use `data`, with process id and command line. */
function serversIn(data: string): { readonly pid: number; readonly line: string }[] {
  return fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return [{ pid: Number(pid), line }];
      } catch {
        return []; // it ended while we looked
      }
    })
    .filter(({ line }) => line.includes(data) && line.includes('ring-server'));
}

const processesIn = (data: string): string[] => serversIn(data).map(({ line }) => line);
const pidsIn = (data: string): number[] => serversIn(data).map(({ pid }) => pid);

/** Time for some thirty processes, one after the other, on a machine that may be busy. */
const limit = { timeout: 180_000 };
const small = ['--json', '--records', String(RECORDS), '--partitions', String(PARTITIONS)];

test('a server joins, one dies, nothing is lost, and nothing is left running', limit, async () => {
  const data = path.join(folder, 'whole');
  const run = await start([...small, '--exit', '--data', data], () => undefined);
  expect(run.code, run.stderr).toBe(0);
  const figures = JSON.parse(run.stdout) as Figures & { ok: boolean; problems: string[] };
  expect(figures).toMatchObject({
    ok: true,
    problems: [],
    records: RECORDS,
    lost: 0,
    wrongReads: 0,
  });
  expect(figures.moved).toBe(figures.moveLowerBound);
  // Without a terminal a rollout prints lines, so that a log shows its stages too. Copies may end
  // between two polls, so any stage with a number of moves is accepted.
  expect(run.stderr).toMatch(/version \d+: [a-z ]+; \d+ \w+/);
  // Old holders may drop their files between two polls, but the line before always appears.
  expect(run.stderr).toMatch(
    /version \d+: the table names \d+ joiners?; old holders drop their files/,
  );
  expect(run.stderr).not.toContain('"event"');
  expect(figures.copied.partitions).toBe(figures.moved);
  expect(figures.copied.bytes).toBeGreaterThan(0);
  expect(processesIn(data)).toEqual([]);
});

test('a secured cluster refuses unknown callers, and renewals fail no request', limit, async () => {
  const data = path.join(folder, 'secured');
  const few = ['--json', '--records', '200', '--partitions', '4', '--secure'];
  const run = await start([...few, '--exit', '--data', data], () => undefined);
  expect(run.code, run.stderr).toBe(0);
  expect(JSON.parse(run.stdout)).toMatchObject({
    ok: true,
    problems: [],
    records: 200,
    lost: 0,
    refused: { noToken: 'TOKEN_MISSING', wrongSecret: 'TOKEN_REFUSED' },
    revokedOn: 3,
    live: { failed: 0 },
  });
  expect(processesIn(data)).toEqual([]);
});

test('Ctrl-C during a run ends all servers, and the exit code is 130', async () => {
  const data = path.join(folder, 'interrupted');
  let interrupted = false;
  const run = await start([...small, '--data', data], (stderr, pid) => {
    if (interrupted || !stderr.includes('2. ')) return;
    interrupted = true;
    expect(processesIn(data)).toHaveLength(6);
    process.kill(pid, 'SIGINT');
  });
  expect(run.code, run.stderr).toBe(130);
  expect(run.stderr).toContain(`files stay in ${data}`);
  expect(processesIn(data)).toEqual([]);
});

// The servers hang. Only a program that stops waiting for them at the second Ctrl-C ends soon.
test.each([
  ['a temporary folder', false],
  ['a folder that is kept', true],
])('a second Ctrl-C ends hanging servers, also with %s', async (_what, isKept) => {
  const home = fs.mkdtempSync(path.join(folder, 'twice-'));
  const data = path.join(home, 'data');
  const kept = isKept ? ['--data', data] : [];
  let pressed = 0;
  const run = await start(
    [...small, ...kept],
    (stderr, pid) => {
      // All servers run, and the rest of the demonstration is not needed.
      if (pressed === 0 && stderr.includes('$ ring-builder create')) {
        pressed = 1;
        for (const server of pidsIn(home)) process.kill(server, 'SIGSTOP');
        process.kill(pid, 'SIGINT');
      } else if (pressed === 1 && stderr.includes('Stopping the servers')) {
        pressed = 2;
        process.kill(pid, 'SIGINT');
      }
    },
    { TMPDIR: home },
  );
  expect(pressed).toBe(2);
  expect(run.code, run.stderr).toBe(130);
  expect(processesIn(home)).toEqual([]);
  const left = fs.readdirSync(home).filter((name) => /^(ringwright-|data$)/.test(name));
  expect(left).toEqual(isKept ? ['data'] : []);
});
