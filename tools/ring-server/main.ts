// Program: one storage server for one device, or `check DIR`: an audit of its data at rest.
import { flushCompileCache } from 'node:module';
import { CodedError } from '@ringwright/base/coded-error';
import { printable, printableLines } from '@ringwright/base/printable';
import { versionAnswer } from '@ringwright/base/program-version';
import type { RunningServer } from '@ringwright/server/start-server';
import { bearYoung, giveBackAtRest, growWhenHindered } from './heap.ts';
import { parseOptions } from './parse-options.ts';

/** Exit code after the store failed: the supervisor should start the server again, from disk. */
const STORE_FAILED_EXIT = 4;

async function main(): Promise<void> {
  const words = process.argv.slice(2);
  if (words.find((word) => word !== '--json') === '--version') {
    process.stdout.write(`${versionAnswer('ring-server', words.includes('--json'))}\n`);
    return;
  }
  if (words[0] === 'check') return check(words.slice(1));
  const options = await parseOptions(words);
  const [{ startServer }, { serverLog }] = await Promise.all([
    import('@ringwright/server/start-server'),
    import('@ringwright/server/log'),
  ]);
  // Before a flag is set: what was compiled under other flags is not taken from the cache.
  flushCompileCache();
  bearYoung();
  growWhenHindered();
  const log = serverLog(options.logLevel);
  const onFailure = (error: unknown): void => {
    log.fatal({ err: error }, 'the store failed; ending so that a restart reads it from disk');
    process.exit(STORE_FAILED_EXIT);
  };
  const server = await startServer(options, { log, onFailure });
  giveBackAtRest();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stop(server, signal));
  }
}

async function check(words: readonly string[]): Promise<void> {
  const { checkData, printCheck } = await import('./check-data.ts');
  const checked = await checkData(words);
  const json = words.includes('--json');
  process.stdout.write(printableLines(json ? `${JSON.stringify(checked)}\n` : printCheck(checked)));
  process.exitCode = checked.findings.length === 0 ? 0 : 1;
}

async function stop(server: RunningServer, signal: NodeJS.Signals): Promise<void> {
  await server.close();
  process.exitCode = signal === 'SIGINT' ? 130 : 0;
}

main().catch((error: unknown) => {
  if (!(error instanceof CodedError)) throw error;
  process.stderr.write(`${printable(`ring-server: ${error.message} [${error.code}]`)}\n`);
  if (error.hint !== '') process.stderr.write(`${printable(error.hint)}\n`);
  process.exitCode = error.exit;
});
