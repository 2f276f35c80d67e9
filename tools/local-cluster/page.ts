// The final page: the figures of the run, and commands to try. Pure.
import { quoteWord } from '@ringwright/base/quote-command';
import { breakCommand } from './break-command.ts';
import type { Figures } from './figures.ts';
import { margin } from './narrator.ts';

const count = (value: number): string => Math.round(value).toLocaleString('en');
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
const ms = (value: number): string => `${count(value)} ms`;

/** Rows of two columns: name and value. */
export type Rows = readonly (readonly [string, string])[];

/** Returns the figures of a ring change. */
export function changeRows(figures: Figures): Rows {
  const { copied, live, longestPauseMs: pause } = figures;
  return [
    ['records', `${count(figures.records)} loaded, ${count(figures.loadedPerSecond)} a second`],
    [
      'moved',
      `${figures.moved} partition copies; no ring needs fewer than ${figures.moveLowerBound}`,
    ],
    ['copied', copiedLine(copied, figures)],
    ['meanwhile', `${count(live.writes)} updates, ${count(live.reads)} checked reads`],
    ['longest pause', `${ms(pause.writer)} for the writer, ${ms(pause.reader)} for a reader`],
    [
      'after the kill',
      `${count(live.writesAfterKill)} updates, ${count(live.readsAfterKill)} reads`,
    ],
    ['compared', `${count(figures.records)}, ${count(figures.comparedPerSecond)} a second`],
    ['lost', `${figures.lost}`],
    ['time', `${figures.seconds.toFixed(1)} s`],
  ];
}

export function figuresPage(rows: Rows, problems: readonly string[]): string[] {
  const verdict =
    problems.length === 0 ? ['Every figure is in order.'] : ['NOT in order:', ...problems];
  return [
    '',
    ...rows.map(([name, text]) => `   ${name.padEnd(15)} ${text}`),
    '',
    ...indent(verdict),
  ];
}

function copiedLine(copied: Figures['copied'], { copiesVerified }: Figures): string {
  const verified = copiesVerified ? 'all verified' : 'NOT all verified';
  const rate = `${copied.mbPerSecond.toFixed(1)} MB/s`;
  return `${copied.partitions} partition files, ${megabytes(copied.bytes)}, ${rate}, ${verified}`;
}

interface Surroundings {
  readonly rings: string;
  readonly folder: string;
  /** Port of a running server. */
  readonly port: number;
  readonly sampleKey: string;
  readonly ringVersion: number;
  /** Arguments of ring-server that restart the killed server. */
  readonly revive: readonly string[];
  /** Width of the terminal. */
  readonly columns: number;
}

/** Returns commands to explore the cluster. */
export function commandsPage(surroundings: Surroundings): string[] {
  const { rings, folder, port, sampleKey, ringVersion, revive, columns } = surroundings;
  const url = `http://${recordAt(port, sampleKey)}`;
  const linesOf = (...args: string[]): string[] =>
    breakCommand(args.map(quoteWord), columns - margin.length);
  const tool = (...args: string[]): string[] =>
    linesOf('npx', 'ring-builder', ...args, '--rings', rings);
  return invitation(folder, [
    ...linesOf('curl', url),
    ...linesOf('curl', '-X', 'PUT', '-d', '{"name":"changed"}', url),
    ...tool('health'),
    ...tool('status', 'cities'),
    ...tool('log', 'cities'),
    ...tool('diff', 'cities', '1', String(ringVersion)),
    ...tool('lookup', 'cities', sampleKey),
    '# the server that was killed:',
    ...linesOf('npx', 'ring-server', ...revive),
  ]);
}

/** The same for a secured cluster. `environment`: variables of ring-builder. */
export function securedCommandsPage(
  surroundings: Pick<Surroundings, 'rings' | 'folder' | 'port' | 'sampleKey'> & {
    readonly environment: Readonly<Record<string, string>>;
    readonly authority: string;
    readonly token: string;
  },
): string[] {
  const { rings, folder, port, sampleKey, environment, authority, token } = surroundings;
  const url = `https://${recordAt(port, sampleKey)}`;
  const variables = Object.entries(environment).map(
    ([name, value]) => `${name}=${quoteWord(value)}`,
  );
  const tool = (command: string): string => `npx ring-builder ${command} --rings ${rings}`;
  const header = `"Authorization: Bearer $(cat ${token})"`;
  return invitation(folder, [
    ...variables.map((one) => `export ${one}`),
    `curl --cacert ${authority} -H ${header} ${quoteWord(url)}`,
    `curl --cacert ${authority} ${quoteWord(url)}   # without a token`,
    tool('health'),
    tool('access list'),
    tool('access log'),
    tool('certs list'),
  ]);
}

function recordAt(port: number, key: string): string {
  return `127.0.0.1:${port}/v1/cities/${key.split('/').map(encodeURIComponent).join('/')}`;
}

function invitation(folder: string, commands: readonly string[]): string[] {
  return [
    '',
    'The cluster is up. Try, in another terminal:',
    '',
    ...indent(commands),
    '',
    `Files are in ${folder}. Ctrl-C stops everything.`,
  ];
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => `${margin}${line}`);
}
