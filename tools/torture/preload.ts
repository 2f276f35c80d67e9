// Loaded into every tortured server before its first module: applies the faults of the control
// file.
import fs from 'node:fs';
import module from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { type Control, calm, environment, readControl } from './control.ts';
import { nameConnections } from './name-connections.ts';
import { breakDisk, forgetUnsynced } from './preload-disk.ts';
import { failpointFunction, patchSources, type SourcePatch } from './source-patches.ts';

const POLL_MS = 50;
/** All modules are loaded by then: the next start, usually after a kill, finds them compiled. */
const LOADED_MS = 2_000;
const file = process.env[environment.control] ?? '';
let control: Control = calm;

function follow(): void {
  control = readControl(file);
  passed = 0;
}

/** Cuts the power: unsynced log data is lost, and SQLite's WALs keep a random part. */
function cutPower(): void {
  forgetUnsynced(control.walShare);
  process.kill(process.pid, 'SIGKILL');
}

let passed = 0;
function failpoint(name: string): void {
  const armed = control.failpoint;
  if (armed?.name !== name) return;
  passed += 1;
  if (passed <= armed.passes) return;
  fs.appendFileSync(`${file}.fired`, `${name}\n`);
  if (armed.action === 'cut') forgetUnsynced(control.walShare);
  process.kill(process.pid, 'SIGKILL');
}

function shiftClock(): void {
  const machine = Date.now;
  Date.now = () => (control.clockStandsAtMs ?? machine()) + control.clockOffsetMs;
}

/** Preloads the helper processes too: they do not inherit this process's options. */
function preloadForks(): void {
  const builtin = module.createRequire(import.meta.url)('node:child_process') as {
    fork: (program: URL, options: { readonly execArgv: readonly string[] }) => unknown;
  };
  const { fork } = builtin;
  const preload = ['--no-warnings', '--import', new URL('./preload-fork.ts', import.meta.url).href];
  // A shell starts Node; the arguments after its script are Node's own.
  builtin.fork = (program, options) =>
    fork(program, { ...options, execArgv: [...options.execArgv, ...preload] });
}

// Our own JSON, written by the runner.
patchSources(JSON.parse(process.env[environment.patches] ?? '[]') as SourcePatch[]);
// Worker threads use neither clock nor log nor connections.
if (isMainThread && file !== '') {
  follow();
  fs.watchFile(file, { interval: POLL_MS, persistent: false }, follow);
  shiftClock();
  breakDisk(() => control);
  nameConnections(process.env[environment.source] ?? '127.0.0.1');
  preloadForks();
  Object.assign(globalThis, { [failpointFunction]: failpoint });
  process.on('SIGUSR2', cutPower);
  setTimeout(() => module.flushCompileCache(), LOADED_MS).unref();
  module.syncBuiltinESMExports();
}
