// Every option of both programs, with values that it must not take: the refusal has a code, the
// option and the value, before anything is changed or a server is contacted.
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { optionFlags } from '@ringwright/server/option-flags';
import { requireSources } from '@ringwright/server/rings/ring-files';
import { expect, test } from 'vitest';
import { parseNumber } from '../tools/ring-builder/cli/arguments.ts';
import {
  isNumberName,
  type NumberName,
  type NumberRange,
  numberRanges,
} from '../tools/ring-builder/cli/number-ranges.ts';
import { commands } from '../tools/ring-builder/command-groups.ts';
import { checkData } from '../tools/ring-server/check-data.ts';
import { inspectData } from '../tools/ring-server/inspect-data.ts';
import { parseOptions } from '../tools/ring-server/parse-options.ts';
import { refusal } from './support/refusal.ts';
import { ringBuilderHere } from './support/ring-builder-here.ts';
import { filesOf } from './support/small-repository.ts';

/**
 * No server listens there: a command that contacts servers before it checks its options ends
 * otherwise.
 */
const device = (n: number): string => `r1z${n}-127.0.0.1:1/d${n}`;

/** What each command needs besides its options. */
const needed: Readonly<Record<string, string>> = {
  create: 'create new --replicas=1 --partition-power=4',
  compose: 'compose new cities users',
  add: `add cities`,
  remove: 'remove cities d0',
  replace: 'replace cities d0 10.0.0.9',
  'set-weight': 'set-weight cities d0 1',
  'set-device': 'set-device cities d0',
  maintenance: 'maintenance cities d0',
  split: 'split cities 1',
  merge: 'merge cities 1 2',
  pin: 'pin cities 1',
  unpin: 'unpin cities 1',
  ramp: 'ramp cities d0 9',
  commit: 'commit cities --message=x',
  settle: 'settle cities --message=x',
  access: 'access grant x',
  certs: 'certs issue x',
  key: 'key generate ada',
  moves: 'moves cities list',
  trash: 'trash cities list',
  lookup: 'lookup cities a',
  'import-swift': 'import-swift new object.builder',
  'export-swift': 'export-swift cities out.builder',
  import: 'import new --from-json=/nope',
  why: 'why cities 1',
  drill: 'drill cities device d0',
  simulate: 'simulate absent',
  revert: 'revert cities 1',
  restore: 'restore new --from=127.0.0.1:1',
  archive: 'archive cities --keep=1 --to=old',
  prune: 'prune cities --yes --keep=1',
  completion: 'completion bash',
  'archive-data': 'archive-data cities --to=old',
  'restore-data': 'restore-data cities --from=old',
};

const noNumbers = ['NaN', '', '0x10', ' 1', '1e', 'Infinity', '१'];

/** Returns texts of every kind that are not a number in the range. */
function wrongFor({ least, most, isWhole }: NumberRange): string[] {
  const bounds = [`${least - 1}`, '-1', '1e300', '1e999', '9'.repeat(5_000), '0.5', '1e-300'];
  const isIn = (value: number): boolean => value >= least && value <= most;
  const outside = bounds.filter((text) => {
    return !isIn(Number(text)) || (isWhole && !Number.isInteger(Number(text)));
  });
  return [...outside, ...noNumbers];
}

test('a number outside its range is refused with the value and the range', () => {
  for (const [name, range] of Object.entries(numberRanges) as [NumberName, NumberRange][]) {
    for (const edge of [range.least, range.most]) {
      expect(parseNumber(String(edge), name)).toBe(edge);
    }
    for (const text of wrongFor(range)) {
      const error = refusal(() => parseNumber(text, name));
      expect(error, `${name} ${text}`).toMatchObject({ exit: 2, details: { name: `--${name}` } });
      expect(error.message).toMatch(/^--[a-z-]+ .* must be a (whole )?number/);
      expect(error.message).toContain(`${range.least}`);
      expect(error.message.length).toBeLessThan(300);
    }
  }
});

const files = ['from', 'from-json', 'onto'];

interface Case {
  readonly args: readonly string[];
  readonly option: string;
  readonly value: string;
}

/** Returns the options of one command, each with one or two wrong values. */
async function casesOf({ name, load }: (typeof commands)[number]): Promise<Case[]> {
  const { command } = await load();
  return Object.entries(command.options ?? {}).flatMap(([option, { type, choices }], at) => {
    if (type !== 'string') return [];
    const wrong = isNumberName(option) ? wrongFor(numberRanges[option]) : [];
    const values = [
      ...wrong.slice(at % wrong.length).slice(0, 1),
      ...(choices === undefined ? [] : ['nonsense']),
      ...(files.includes(option) ? ['/nope', '/tmp'] : []),
      ...(at % 3 > 0 || /^(meta|hash-.*)$/.test(option) ? [] : ['']),
    ];
    const args = (needed[name] ?? `${name} cities`)
      .split(' ')
      .filter((word) => !word.startsWith(`--${option}=`));
    return values.map((value) => ({ args: [...args, `--${option}=${value}`], option, value }));
  });
}

async function refusalOf(work: () => Promise<unknown>, what: string): Promise<CodedError> {
  const ended = await work().then(
    () => 'was taken',
    (error: unknown) => error,
  );
  if (ended instanceof CodedError) return ended;
  throw new Error(`${what}: ${String(ended)}`);
}

test('ring-builder refuses wrong values of options, and changes nothing', async () => {
  const tool = await ringBuilderHere({ yes: true });
  await tool.json('create cities --partition-power 3 --replicas 2');
  await tool.json(['add', 'cities', device(1), '1', device(2), '1', device(3), '1']);
  await tool.json('commit cities -m first');
  const before = await filesOf(tool.folder);
  const cases = (await Promise.all(commands.map(casesOf))).flat();
  expect(cases.length).toBeGreaterThan(60);
  for (const { args, option, value } of cases) {
    const what = args.join(' ').slice(0, 120);
    const error = await refusalOf(() => tool.answer(args), what);
    expect([2, 4], `${what}: ${error.message}`).toContain(error.exit);
    expect(error.message, what).toContain(value === '' ? `--${option} ` : value.slice(0, 80));
    expect(error.message.length, what).toBeLessThan(600);
    expect(error.message, what).not.toMatch(/received|must match|Invalid/);
  }
  expect(await filesOf(tool.folder)).toEqual(before);
});

const wrongForServer: readonly (readonly [option: string, ...values: string[]])[] = [
  ['data'],
  ['listen', 'here:port', '10.0.0.1:0', '10.0.0.1:70000', '10.0.0.256:1', '6200', '/tmp'],
  ['advertise', 'a b', '[10.0.0.1]:1'],
  ['operator-listen', 'here:port', '0.0.0.0:6300', '6300'],
  ['replication-listen', 'here:port', '6300'],
  ['tls'],
  ['client-ca'],
  ['allow-host', '*', 'a:b', '/tmp'],
  ['device', 'a/b', '..', 'a\u001b[31m', ' a', 'a'.repeat(5_000)],
  ['rings'],
  ['store'],
  ['ring'],
  ['redis-port', '0', '-1', 'NaN', '1e300', '0.5', '70000'],
  ['redis-keyspace', 'NO', '-1'],
  ['redis-consistency', 'most'],
  ['trust'],
  ['token-file'],
  ['copy-listen', 'here:port', '10.0.0.1:70000', '6200', '/tmp'],
  ['copy-rate', '0', '-1', 'NaN', '1e300', '100000', '50MB/h', `${'9'.repeat(40)}TB`],
  ['trash-hours', '-1', 'NaN', '1e300', '1e999', '0x10'],
  ['trash-bytes', '-1', 'NaN', '1e300', `${'9'.repeat(40)}TB`],
  ['log-level', 'loud'],
];

test('ring-server refuses wrong values of options, and names the option', async () => {
  const texts = Object.entries(optionFlags).filter(([, { type }]) => type === 'string');
  expect(wrongForServer.map(([option]) => option).sort()).toEqual(
    texts.map(([name]) => name).sort(),
  );
  for (const [option, ...values] of wrongForServer) {
    for (const value of ['', ...values]) {
      const args = [...(option === 'data' ? [] : ['--data', '/x']), `--${option}=${value}`];
      const what = args.join(' ').slice(0, 120);
      const error = await refusalOf(() => parseOptions(args), what);
      expect(error, what).toMatchObject({ code: 'USAGE', exit: 2 });
      expect(error.message, what).toContain(`--${option} `);
      expect(error.message, what).not.toMatch(/received|must match|Invalid/);
    }
  }
});

test.each(
  Object.entries(optionFlags).flatMap(([name, { choices = [] }]) =>
    choices.map((choice) => [name, choice] as const),
  ),
)('ring-server takes --%s %s', async (name, choice) => {
  const field = name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const options = await parseOptions(['--data', '/x', `--${name}`, choice]);
  expect(options).toMatchObject({ [field]: choice });
});

test('ring-server reports a path that is absent or of the wrong kind', async () => {
  const empty = await mkdtemp(join(tmpdir(), 'rw-'));
  const file = join(empty, 'file');
  await writeFile(file, '');
  const absent = join(empty, 'absent');
  const before = await filesOf(empty);
  for (const directory of [absent, file, empty]) {
    for (const look of [checkData, inspectData]) {
      const error = await refusalOf(() => look([directory]), directory);
      expect(error).toMatchObject({ code: 'USAGE' });
      expect(error.message).toContain(`${directory} is not a data directory: it `);
    }
  }
  for (const folder of [absent, file]) {
    const error = await refusalOf(() => requireSources({ folder, files: [] }), folder);
    expect(error).toMatchObject({ code: 'RINGS_UNKNOWN', exit: 2 });
    expect(error.message).toContain(`--rings ${folder} `);
  }
  for (const ring of [absent, empty]) {
    const error = await refusalOf(() => requireSources({ folder: undefined, files: [ring] }), ring);
    expect(error).toMatchObject({ code: 'FILE_UNFIT', exit: 2 });
    expect(error.message).toContain(`--ring ${ring} `);
  }
  expect(await filesOf(empty)).toEqual(before);
});
