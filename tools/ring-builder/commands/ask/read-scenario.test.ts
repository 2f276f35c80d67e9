// Scenarios of tools/bench and those of the document are read as they are; what is wrong is named.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { simulate } from '@ringwright/builder/ask/simulate';
import { expect, test } from 'vitest';
import { parseCommandLine } from '../../command-line.ts';
import { readScenario } from './read-scenario.ts';

const bench = join(import.meta.dirname, '../../../bench/scenarios');
const document = readFileSync(join(import.meta.dirname, '../../SCENARIOS.md'), 'utf8');

test.each(readdirSync(bench))('%s of tools/bench', (file) => {
  const content = readFileSync(join(bench, file), 'utf8');
  const { steps, sequence, servers } = JSON.parse(content);
  const { runs, name } = readScenario(content, file);
  expect(file).toBe(`${name}.json`);
  const wanted = steps.map((step: { name: string }) => step.name);
  expect(runs.map((run) => run.name)).toEqual(
    sequence.length > 0 ? ['sequence', ...wanted] : wanted.length > 0 ? wanted : [''],
  );
  const devices = servers.flatMap((server: { weights: number[] }) => server.weights).length;
  for (const run of runs) expect(run.steps[0]?.changes).toHaveLength(devices);
});

test('S1 is simulated, each alternative from the first version', () => {
  const content = readFileSync(join(bench, 'S1.json'), 'utf8');
  const { state, runs } = readScenario(content, 'S1');
  for (const { name, steps } of runs) {
    const figures = simulate(state, steps);
    expect(
      figures.map(({ refusal }) => refusal),
      name,
    ).toEqual(steps.map(() => null));
    const all = figures.reduce((sum, { moved }) => sum + moved, 0);
    const least = figures.reduce((sum, { moveLowerBound }) => sum + moveLowerBound, 0);
    expect(all, name).toBeGreaterThanOrEqual(least);
  }
});

const examples = [...document.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = '']) => text);

test('the document shows both forms, and both can be simulated', () => {
  expect(examples).toHaveLength(2);
  const names = examples.map((text) => {
    const { state, runs } = readScenario(text, 'SCENARIOS.md');
    for (const { steps } of runs) {
      for (const { refusal } of simulate(state, steps)) expect(refusal).toBeNull();
    }
    return runs.map(({ name }) => name);
  });
  expect(names).toEqual([
    ['sequence', 'half the weight', 'two replicas'],
    ['sequence', 'another disk', 'half the weight'],
  ]);
});

test('help shows the form', async () => {
  const parsed = await parseCommandLine(['simulate', '--help']);
  const help = parsed.kind === 'help' ? parsed.text : '';
  for (const word of ['"part_power"', '"sequence"', '"steps"', 'Exit codes: 0 done']) {
    expect(help).toContain(word);
  }
});

test.each([
  ['[]', 'wanted an object'],
  ['{', 'JSON'],
  ['{"servers":[]}', 'power'],
  ['{"power":3,"replicas":1,"servers":[],"stepps":[]}', 'stepps'],
  [
    '{"power":3,"replicas":1,"servers":[],"steps":[{"name":"a","changes":[{"move":1}]}]}',
    'steps.0.changes.0',
  ],
])('%s is refused', (content, said) => {
  expect(() => readScenario(content, 'x.json')).toThrow(
    expect.objectContaining({ code: 'USAGE', message: expect.stringContaining(said) }),
  );
});
