// Tests that the scenarios of tools/bench and of SCENARIOS.md are read, and that errors name the
// field.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { simulate } from '@ringwright/builder/analysis/simulate';
import { expect, test } from 'vitest';
import { parseCommandLine } from '../../command-line.ts';
import { readScenario } from './read-scenario.ts';

const bench = join(import.meta.dirname, '../../../bench/scenarios');
const document = readFileSync(join(import.meta.dirname, '../../SCENARIOS.md'), 'utf8');

test.each(readdirSync(bench))('the scenario %s of tools/bench is read completely', (file) => {
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

test('no step of S1 is refused, and every run moves at least the lower bound', () => {
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

test('the examples in SCENARIOS.md show both forms and can be simulated', () => {
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

test('the help of simulate shows the format of a scenario', async () => {
  const parsed = await parseCommandLine(['simulate', '--help']);
  const help = parsed.kind === 'help' ? parsed.text : '';
  for (const word of ['"part_power"', '"sequence"', '"steps"', 'Exit codes: 0 done']) {
    expect(help).toContain(word);
  }
});

const device = { zone: 1, ip: '10.0.0.1', port: 6200, device: 'sda', weight: 1 };
const long = { part_power: 3, replicas: 1, devices: [device] };
const after = (op: object) => ({ ...long, sequence: [{ kind: 'a', ops: [op] }] });

test.each([
  [{ ...long, min_parts_hours: 1 }, 'x.json: has "min_parts_hours", which is unknown'],
  [{ ...long, devices: [{ ...device, wight: 9 }] }, 'x.json: devices.0: has "wight", which'],
  [after({ op: 'add', dev: { ...device, Meta: '' } }), 'sequence.0.ops.0.dev: has "Meta", which'],
  [after({ op: 'overload', overload: 1, at: 3 }), 'sequence.0.ops.0: has "at", which is unknown'],
  [{ ...long, sequence: [{ kind: 'a', after: 9, ops: [] }] }, 'sequence.0: has "after", which is'],
  [{ ...long, steps: { a: [{ op: 'remove', id: 0, zone: 1 }] } }, 'steps.a.0: has "zone", which'],
])('an unknown field is refused with its name: case %#', (scenario, said) => {
  expect(() => readScenario(JSON.stringify(long), 'x.json')).not.toThrow();
  expect(() => readScenario(JSON.stringify(scenario), 'x.json')).toThrow(
    expect.objectContaining({ code: 'USAGE', message: expect.stringContaining(said) }),
  );
});

test.each([
  ['[]', 'expected an object'],
  ['{', 'JSON'],
  ['{"servers":[]}', 'power'],
  ['{"power":3,"replicas":1,"servers":[],"stepps":[]}', 'stepps'],
  [
    '{"power":3,"replicas":1,"servers":[],"steps":[{"name":"a","changes":[{"move":1}]}]}',
    'steps.0.changes.0',
  ],
])('the malformed scenario %s is refused', (content, said) => {
  expect(() => readScenario(content, 'x.json')).toThrow(
    expect.objectContaining({ code: 'USAGE', message: expect.stringContaining(said) }),
  );
});
