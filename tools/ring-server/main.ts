// Program: one storage server for one device; `check DIR`, an audit of its data at rest; or
// `inspect DIR`, a look at what it holds.
import { flushCompileCache } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { diskError } from '@ringwright/base/disk-error';
import { diskCallsMsMax, stopMsMax } from '@ringwright/base/limits-store';
import { printable, printableLines } from '@ringwright/base/printable';
import { versionAnswer } from '@ringwright/base/program-version';
import { shortenedWords } from '@ringwright/base/shortened';
import { leaveGarbage } from '@ringwright/node/v8/collect-garbage';
import { tuneV8 } from '@ringwright/node/v8/tune-v8';
import type { RunningServer } from '@ringwright/server/start-server';
import type { Logger } from '@ringwright/server/telemetry/log';
import { parseOptions } from './parse-options.ts';

/**
 * Exit code after the store failed: the supervisor should restart the server, which reads the disk
 * again.
 */
const STORE_FAILED_EXIT = 4;

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  if (args.find((word) => word !== '--json') === '--version') {
    process.stdout.write(`${versionAnswer('ring-server', args.includes('--json'))}\n`);
    return;
  }
  if (!args.includes('--help')) {
    if (args[0] === 'check') return check(args.slice(1));
    if (args[0] === 'inspect') return inspect(args.slice(1));
  }
  const options = await parseOptions(args);
  // Nobody else may read records and keys.
  process.umask(0o077);
  const [{ startServer }, { serverLog }] = await Promise.all([
    import('@ringwright/server/start-server'),
    import('@ringwright/server/telemetry/log'),
  ]);
  // Before any V8 flag is set: code compiled under other flags is not taken from the cache.
  flushCompileCache();
  if (options.plainV8) leaveGarbage();
  else tuneV8();
  const log = serverLog(options.logLevel);
  const onFailure = (error: CodedError): void => {
    log.fatal({ error }, 'the store failed; exiting, so that a restart reads it from disk');
    tell(error);
    void end(STORE_FAILED_EXIT);
  };
  const starting = startServer(options, { log, onFailure });
  // Signals are handled from now on: requests are answered before the start has ended. A second
  // signal ends the process at once.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      limitStop(log);
      // A server that failed to start ends by itself.
      void starting.then((server) => stop(server, signal, log)).catch(() => undefined);
    });
  }
  await starting;
}

async function check(args: readonly string[]): Promise<void> {
  const { checkData, printCheck } = await import('./check-data.ts');
  const checked = await checkData(args);
  const json = args.includes('--json');
  process.stdout.write(printableLines(json ? `${JSON.stringify(checked)}\n` : printCheck(checked)));
  process.exitCode = checked.findings.length === 0 ? 0 : 1;
}

async function inspect(args: readonly string[]): Promise<void> {
  const [{ inspectData }, { printInspection }] = await Promise.all([
    import('./inspect-data.ts'),
    import('./print-inspection.ts'),
  ]);
  const data = await inspectData(args);
  const json = args.includes('--json');
  process.stdout.write(printableLines(json ? `${JSON.stringify(data)}\n` : printInspection(data)));
}

async function stop(server: RunningServer, signal: NodeJS.Signals, log: Logger): Promise<void> {
  log.info({ signal }, 'stopping');
  const began = performance.now();
  try {
    const isWhole = await server.leave();
    const where = isWhole ? 'all is in the partition files' : 'the next start replays the log';
    log.info({ ms: Math.round(performance.now() - began) }, `stopped: ${where}`);
  } catch (error) {
    log.fatal({ error }, 'not stopped cleanly: the next start replays the log');
    return end(STORE_FAILED_EXIT);
  }
  // Exits at once: the files are consistent, and would otherwise be closed one by one.
  await end(signal === 'SIGINT' ? 130 : 0);
}

/** A disk that hangs would keep the process for ever, also during its start. */
function limitStop(log: Logger): void {
  const onTime = (): void => {
    log.fatal('not stopped in time, the disk may hang: the next start replays the log');
    void end(STORE_FAILED_EXIT);
  };
  setTimeout(onTime, stopMsMax).unref();
}

/**
 * Node's exit waits for the calls of the thread pool, without an end if the disk hangs. SIGKILL
 * does not wait, and the log has everything.
 */
async function end(code: number): Promise<void> {
  const endsAt = performance.now() + diskCallsMsMax;
  while (process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'))) {
    if (performance.now() > endsAt) process.kill(process.pid, 'SIGKILL');
    await pause(10);
  }
  process.exit(code);
}

/** Prints what happened, and what to do. */
function tell({ message, code, hint }: CodedError): void {
  const sentence = `ring-server: ${shortenedWords(message)} [${code}]`;
  process.stderr.write(`${printable(sentence)}\n`);
  for (const line of hint === '' ? [] : hint.split('\n')) {
    process.stderr.write(`${printable(line)}\n`);
  }
}

main().catch((error: unknown) => {
  const coded = error instanceof CodedError ? error : diskError(error);
  if (coded === null) throw error;
  tell(coded);
  // Ends whatever is still in progress: a server that could not start exits.
  return end(coded.exit);
});
