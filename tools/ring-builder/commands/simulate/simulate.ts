// ring-builder simulate: computes a list of changes, with figures for each step. Nothing is
// written.
import { counted } from '@ringwright/base/counted';
import { printTable } from '@ringwright/base/print-table';
import { type StepFigures, simulate } from '@ringwright/builder/analysis/simulate';
import { usage } from '../../cli/arguments.ts';
import { type Command, textOption } from '../../cli/command.ts';
import { readScenario } from './read-scenario.ts';
import { readScenarioFile } from './scenario-file.ts';

const form = `The scenario is one JSON object, such as
  {"part_power": 10, "replicas": 3, "min_part_hours": 0, "overload": 0,
   "devices": [{"zone": 1, "ip": "10.0.0.1", "port": 6200, "device": "sda", "weight": 100}, …],
   "sequence": [{"kind": "grow", "after_hours": 24,
                 "ops": [{"op": "weight", "id": 0, "weight": 50}]}],
   "steps": {"a disk dies": [{"op": "remove", "id": 0}]}}
sequence: steps run one after another. steps: alternatives. op: add (dev), remove (id),
weight (id, weight), overload, replicas. Devices are numbered from 0. The scenarios of
tools/bench, with servers and weights, also work: see tools/ring-builder/SCENARIOS.md.`;

export const command: Command = {
  positionals: { scenario: { describe: 'a JSON file in the form below; - is stdin' } },
  options: {
    step: textOption('run only this one of the alternative steps'),
  },
  about: form,
  examples: [
    ['$0 simulate growth.json', 'versions, moves, balance and dispersion after each step'],
    [
      '$0 simulate tools/bench/scenarios/S1.json --step b_add_server',
      'only one of the alternatives',
    ],
  ],
  run: async (args, context) => {
    const path = args.text('scenario');
    const example = 'tools/bench/scenarios/S1.json';
    const scenario = readScenario(
      await readScenarioFile(path, { command: 'simulate', example }),
      path,
    );
    const stepName = args.optionalText('step');
    const runs = scenario.runs.filter(({ name }) => stepName === undefined || name === stepName);
    if (runs.length === 0) {
      const names = scenario.runs.map(({ name }) => name).join(', ');
      throw usage(`${path} has no step ${stepName}; it has ${names}`);
    }
    context.tell(`${scenario.name}: simulating ${counted(runs.length, 'run')} …`);
    const results = runs.map(({ name, steps }) => ({
      name,
      steps: simulate(scenario.state, steps),
    }));
    const refused = results.some(({ steps }) => steps.some(({ refusal }) => refusal !== null));
    return {
      json: { scenario: scenario.name, runs: results, refused },
      lines: results.flatMap(({ name, steps }) => [
        ...(name === '' ? [] : [`run ${name}`]),
        ...printSteps(steps),
        '',
      ]),
      next: 'ring-builder create RING …; or change the scenario and run simulate again',
      exit: refused ? 1 : 0,
    };
  },
};

function printSteps(steps: readonly StepFigures[]): string[] {
  return [
    ...printTable(steps, [
      { head: 'STEP', cell: ({ name }) => name },
      { head: 'HOUR', cell: ({ hours }) => hours },
      { head: 'VERSION', cell: ({ version }) => version },
      { head: 'WAVES', cell: ({ versions }) => versions },
      { head: 'MOVED', cell: ({ moved }) => moved },
      { head: 'LEAST', cell: ({ moveLowerBound }) => moveLowerBound },
      { head: 'LEFT', cell: ({ movesLeft }) => movesLeft },
      { head: 'OFF', cell: ({ figures }) => figures?.balance.worstSlots.toFixed(2) ?? '-' },
      {
        head: 'TIER OFF',
        cell: ({ figures }) => figures?.balance.worstTierSlots.toFixed(2) ?? '-',
      },
      { head: 'BEYOND CAP', cell: beyondCap },
      { head: 'SPREAD', cell: ({ figures }) => figures?.spread?.variance.toFixed(2) ?? '-' },
    ]),
    ...steps.flatMap(({ name, refusal }) =>
      refusal === null ? [] : [`${name} refused: ${refusal.code}: ${refusal.message}`],
    ),
  ];
}

function beyondCap({ figures }: StepFigures): string {
  if (figures === null) return '-';
  const [overCapSum, unavoidableSum] = figures.dispersion.reduce(
    ([sum, least], { slotsOverCap, unavoidable }) => [sum + slotsOverCap, least + unavoidable],
    [0, 0],
  );
  return `${overCapSum} of ${Math.round(unavoidableSum)}`;
}
