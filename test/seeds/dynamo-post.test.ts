// The figures of the post on Dynamo's three strategies: its A-D example, its three lookup tests,
// and a comparison of the strategies by a typed command.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { changeBetween, compareSchemes } from '@ringwright/builder/compare/compare-schemes';
import { clockwise, layoutOf } from '@ringwright/builder/compare/layout';
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../support/ring-builder-here.ts';

const [A, B, C, D] = [0, 1, 2, 3] as const;

test('A(1,5] B(5,10] C(10,20], D takes (4,8]: A and B scan', () => {
  const before = layoutOf([5, 10, 20], [[A], [B], [C]], 3);
  const after = layoutOf([4, 8, 10, 20], [[A], [D], [B], [C]], 4);
  const hashes = Array.from({ length: 19 }, (_, at) => at + 2);
  const owners = (hash: number) => [before, after].map(({ lists, arcOf }) => lists[arcOf(hash)]);
  expect([2, 4, 5, 6, 8, 9, 10, 11, 20].map(owners)).toEqual([
    [[A], [A]],
    [[A], [A]],
    [[A], [D]],
    [[B], [D]],
    [[B], [D]],
    [[B], [B]],
    [[B], [B]],
    [[C], [C]],
    [[C], [C]],
  ]);
  const change = changeBetween(before, after, { hashes, scheme: { isFixed: false } });
  expect(change).toEqual({ moved: 4 / 19, scanned: [A, B], files: 0 });
});

const nodes = [1, 2, 3, 4, 5];

test('"clockwise ring" should "find the node for hashed key in the middle of the ring"', () => {
  expect(nodes[clockwise(nodes, 3)]).toBe(4);
});

test('"clockwise ring" should "find the node for hashed key on the beginning of the ring"', () => {
  expect(nodes[clockwise(nodes, 0)]).toBe(1);
});

test('"map-like ring" should "find the node for hashed key"', () => {
  const { lists, arcOf } = layoutOf([1, 2, 3, 4, 5, 6], [[1], [2], [3], [1], [2], [3]], 6);
  expect(lists[arcOf(3)]).toEqual([3]);
});

test('the figures show what the post says of the strategies', () => {
  const settings = { nodes: 10, replicas: 3, partitions: 512, tokens: 32, keys: 20_000, seed: 3 };
  const found = compareSchemes(settings);
  const [modulo, shriek, first, second, third, swift, own] = found;
  expect(modulo?.join.moved, 'every object is remapped').toBeGreaterThan(0.5);
  for (const scheme of [first, second, third, swift, own]) {
    expect(scheme?.join.moved, `${scheme?.name}: only k/n keys`).toBeLessThan(0.13);
  }
  expect(first?.join.scanned.length, 'the old nodes scan').toBeGreaterThan(5);
  for (const scheme of [second, third, swift, own]) {
    expect(scheme?.join, `${scheme?.name}: files move whole`).toMatchObject({ scanned: [] });
    expect(scheme?.join.files).toBeGreaterThan(0);
  }
  expect(shriek?.evenness).toBeGreaterThan(first?.evenness ?? 0);
  expect(first?.evenness).toBeGreaterThan(third?.evenness ?? 0);
});

test('ring-builder compare prints one table and draws one picture', async () => {
  const tool = await ringBuilderHere();
  const scenario = join(tool.folder, 'scenario.json');
  const svg = join(tool.folder, 'compare.svg');
  await writeFile(scenario, '{"nodes": 6, "partitions": 128, "keys": 2000}');
  const words = ['compare', scenario, '--svg', svg];
  const text = await tool.text(words);
  const { schemes } = await tool.json<{ schemes: { name: string }[] }>(words);
  const picture = await readFile(svg, 'utf8');
  expect(schemes).toHaveLength(7);
  for (const { name } of schemes) {
    expect(text).toContain(name);
    expect(picture).toContain(`>${name}</text>`);
  }
  for (const [content, code] of [
    ['{"nodes": 1}', 'USAGE'],
    ['{"nodes": 2, "replicas": 3}', 'USAGE'],
    ['{"shards": 2}', 'USAGE'],
    ['[', 'USAGE'],
  ] as const) {
    await writeFile(scenario, content);
    expect(await tool.refusal(`compare ${scenario}`), content).toMatchObject({ code });
  }
});
