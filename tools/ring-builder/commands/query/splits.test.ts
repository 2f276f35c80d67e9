// Tests the command splits with a fake server that reports the size, request rate and middle key of
// partitions.
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import {
  type RingBuilderHere,
  ringBuilderHere,
} from '../../../../test/support/ring-builder-here.ts';
import { statusServer } from '../../../../test/support/status-server.ts';

interface Said {
  readonly sizes: readonly (readonly [partition: number, bytes: number])[];
  readonly rates?: readonly (readonly [partition: number, rate: number])[];
  readonly middle?: {
    readonly at: number | string;
    readonly share: number;
    readonly sampled: number;
  };
}

/** Creates a ring of three devices, all at the address of one fake server. */
async function ringOf(
  partitioner: string,
  { replicas, said }: { readonly replicas: number; readonly said: () => Said },
): Promise<RingBuilderHere> {
  const { port } = await statusServer(said);
  const tool = await ringBuilderHere({ yes: true });
  await tool.json(`create hi --partitioner ${partitioner} --replicas ${replicas}`);
  for (const n of [1, 2, 3]) await tool.json(`add hi r1z${n}-127.0.0.1:${port}/d${n} 1`);
  await tool.json('commit hi -m first');
  return tool;
}

/** Creates a ring of eight partitions with this number of replicas. */
function eightPartitions(replicas: number, said: () => Said): Promise<RingBuilderHere> {
  return ringOf('hash-intervals --partitions 8', { replicas, said });
}

const ids = [0, 1, 2, 3, 4, 5, 6, 7];
const each = (number: number) => ids.map((id) => [id, number] as const);

test('the next command repeats the typed options and stages the same split', async () => {
  const sizes = ids.map((id) => [id, id === 3 ? 9_000_000 : 900_000] as const);
  const middle = { at: 1_300_000_000, share: 0.5, sampled: 9 };
  const tool = await eightPartitions(3, () => ({ sizes, middle }));
  const { next = '' } = await tool.answer('splits hi --split-above 1MiB --most 3');
  expect(next).toBe('ring-builder splits hi --split-above 1MiB --most 3 --stage');
  const staged = await tool.answer(next.split(' ').slice(1));
  expect(staged.json).toMatchObject({ staged: [{ kind: 'split', partition: 3 }] });
  expect(staged.lines.join('\n')).toContain('partition 3 has 9.00 MB, above 1.05 MB: ');
});

test('small neighbors on different devices are not staged: splits suggests merge', async () => {
  const small = new Set<number>();
  const sizes = () => ids.map((id) => [id, small.has(id) ? 1_000 : 90_000_000] as const);
  const tool = await eightPartitions(1, () => ({ sizes: sizes(), rates: each(0) }));
  const { table } = await tool.json<{ table: number[][] }>('table hi');
  const one = ids.findIndex((id) => table[0]?.[id] !== table[0]?.[id + 1]);
  small.add(one).add(one + 1);
  const merge = `ring-builder merge hi ${one} ${one + 1}`;
  for (const command of ['splits hi', 'splits hi --stage']) {
    const { lines, next } = await tool.answer(command);
    expect(lines[0], command).toBe(
      `partitions ${one} and ${one + 1} have 2.00 kB together, below 67.1 MB each, on different ` +
        `devices; this command moves them together first: ${merge}`,
    );
    expect(next, command).toBe(merge);
  }
  const { lines } = await tool.answer('splits hi --stage');
  expect(lines.slice(1)).toEqual([
    'nothing was staged: none of these proposals can be staged directly',
  ]);
});

test('splits says whether sizes or request rates keep neighbors from being merged', async () => {
  const unknown = await eightPartitions(3, () => ({ sizes: each(1_000) }));
  const text = await unknown.text('splits hi --merge-below 3MB');
  expect(text).toContain('requests of 8 partitions are not known yet');
  expect(text).toMatch(/neighbors with less than 3.00 MB each may be too busy for a merge/);
  expect(text).toContain('none is known to be much busier than the others');
  const hot = await eightPartitions(3, () => ({ sizes: each(1_000), rates: each(2_000) }));
  expect(await hot.text('splits hi --split-busier 2')).toMatch(
    /neighbors .* each are too busy for a merge/,
  );
  const large = await eightPartitions(3, () => ({ sizes: each(100_000_000), rates: each(0) }));
  expect(await large.text('splits hi')).toContain('no two neighbors have less than 67.1 MB each');
});

test('no split is proposed if nearly all sampled records share a key or tag', async () => {
  const middle = { at: 1_800_000_000, share: 0.99, sampled: 1_024 };
  const tool = await eightPartitions(3, () => ({ sizes: each(5), rates: each(0), middle }));
  const { lines } = await tool.answer('splits hi --split-above 1 --most 1 --stage');
  expect(lines).toEqual([
    'partition 0 has 5 B, above 1 B: nearly all sampled records have one key or one tag: no ' +
      'even split is known',
    'nothing was staged: none of these proposals can be staged directly',
  ]);
});

test('the split key in the printed command is quoted for the shell', async () => {
  let at = '';
  const said = () => ({ sizes: [[0, 5] as const], middle: { at, share: 0.5, sampled: 9 } });
  const tool = await ringOf('ranges', { replicas: 3, said });
  for (const key of ['plain', "it's $HOME; rm -r", '--rings', "-x 'y"]) {
    at = key;
    const shown = await tool.text('splits hi --split-above 1');
    const command = /: ring-builder (split .*)$/m.exec(shown)?.[1] ?? '';
    const shell = `for word in ${command}; do printf '%s\\0' "$word"; done`;
    const words = execFileSync('sh', ['-c', shell], { encoding: 'utf8' }).split('\0').slice(0, -1);
    const { json } = await tool.answer(words);
    expect(json, command).toMatchObject({ staged: [{ kind: 'split', partition: 0, at: [key] }] });
    await tool.json('unstage hi');
  }
});
