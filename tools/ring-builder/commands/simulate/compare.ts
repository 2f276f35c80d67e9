// ring-builder compare: shows placement schemes side by side, as a table and as a picture.
import fs from 'node:fs/promises';
import { partitionCountMax, replicaCountMax } from '@ringwright/base/limits';
import { parseJson } from '@ringwright/base/parse-json';
import { printTable } from '@ringwright/base/print-table';
import {
  type Comparison,
  compareSchemes,
  hashesOf,
  type SchemeFigures,
} from '@ringwright/builder/compare/compare-schemes';
import { clockwise, type Layout } from '@ringwright/builder/compare/layout';
import { withPath } from '@ringwright/node/with-path';
import { issueSentence } from '@ringwright/ring/issue-sentence';
import { z } from 'zod';
import { usage } from '../../cli/arguments.ts';
import { type Command, textOption } from '../../cli/command.ts';
import { comparisonPicture, percent } from './comparison-picture.ts';
import { readScenarioFile } from './scenario-file.ts';

const form = `The scenario is one JSON object; all members are optional:
  {"nodes": 10, "replicas": 3, "partitions": 1024, "tokens": 64, "keys": 20000, "seed": 1}
A node joins, then the first one leaves. tokens: tokens of each node (Dynamo's first two
strategies). partitions: number of equal parts. Keys are hashed with murmur3.`;

/**
 * A walk scans the tokens of all nodes for each lookup: with thousands of nodes it takes minutes.
 */
const nodesMax = 1_000;
const keysMax = 1_000_000;
const lookupsTimed = 20_000;
/** A lookup in the map takes nanoseconds, so many rounds are needed to time it in milliseconds. */
const mapRounds = 20;

const scenarioSchema = z.strictObject({
  nodes: z.int().min(2).max(nodesMax).default(10),
  replicas: z.int().min(1).max(replicaCountMax).default(3),
  partitions: z
    .int()
    .min(1)
    .max(2 ** 16)
    .default(1_024),
  tokens: z.int().min(1).max(1_024).default(64),
  keys: z.int().min(1).max(keysMax).default(20_000),
  seed: z.int().min(0).max(partitionCountMax).default(1),
});

export const command: Command = {
  positionals: { scenario: { describe: 'a JSON file in the form below; - is stdin' } },
  options: {
    svg: textOption('write the picture to this SVG file'),
  },
  about: form,
  examples: [
    ['$0 compare scenario.json', 'one table of modulo, Dynamo, Shriek, Swift and this builder'],
    ['$0 compare scenario.json --svg compare.svg', 'also as a picture'],
  ],
  run: async (args, context) => {
    const path = args.text('scenario');
    const example = 'a file with {"nodes": 10, "replicas": 3}';
    const scenario = scenarioOf(
      await readScenarioFile(path, { command: 'compare', example }),
      path,
    );
    const schemes = compareSchemes(scenario);
    const hashes = hashesOf({ ...scenario, keys: lookupsTimed });
    const timed = schemes.map((scheme) => ({
      ...scheme,
      lookups: lookupTimes(scheme.layout, hashes, context.nowMs),
    }));
    const svg = args.optionalText('svg');
    if (svg !== undefined) {
      await fs.writeFile(svg, comparisonPicture(scenario, schemes)).catch(withPath(svg));
    }
    return {
      json: {
        ...scenario,
        schemes: timed.map(({ layout: _layout, ...figures }) => figures),
        ...(svg !== undefined && { svg }),
      },
      lines: [
        `${scenario.nodes} nodes, ${scenario.replicas} replicas, ${scenario.partitions} partitions, ${scenario.keys} keys; a node joins, one leaves`,
        '',
        ...tableOf(timed),
        '',
        'EVEN, AFTER: keys of the fullest node divided by the mean, before and after both changes',
        'JOIN, LEAVE: copies moved; SCAN: of these, found by scanning stores; FILES: as whole files',
        'MAP, WALK: ns per lookup, with the map and with the walk from token to token',
        svg !== undefined && `picture: ${svg}`,
      ],
      next: 'ring-builder create RING …; or change the scenario and run compare again',
    };
  },
};

function scenarioOf(content: string, path: string): Comparison {
  const value = parseJson(content, (error) =>
    usage(`${path} is not JSON: ${String(error instanceof Error ? error.message : error)}`),
  );
  const parsed = scenarioSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.path.join('.') || 'its top level';
    throw usage(`${path}: ${field} ${issue === undefined ? 'is wrong' : issueSentence(issue)}`);
  }
  const { nodes, replicas } = parsed.data;
  if (replicas <= nodes) return parsed.data;
  throw usage(
    `${path}: ${replicas} replicas on ${nodes} nodes: there must be at least as many nodes as replicas`,
  );
}

interface LookupTimes {
  readonly mapNs: number;
  /** Null for schemes without a circle to walk. */
  readonly walkNs: number | null;
}

function lookupTimes(
  { arcOf, ends }: Layout,
  hashes: Uint32Array,
  nowMs: () => number,
): LookupTimes {
  const nsOf = (find: (hash: number) => number, rounds: number): number => {
    let found = 0;
    const start = nowMs();
    for (let round = 0; round < rounds; round += 1) {
      for (const hash of hashes) found += find(hash);
    }
    const ns = ((nowMs() - start) * 1e6) / (rounds * hashes.length);
    // The result is used, so that the compiler cannot remove the loop.
    return found >= 0 ? Math.round(ns) : 0;
  };
  const walk = (circle: readonly number[]) => (hash: number) => clockwise(circle, hash - 1);
  return { mapNs: nsOf(arcOf, mapRounds), walkNs: ends === null ? null : nsOf(walk(ends), 1) };
}

type TimedScheme = SchemeFigures & { readonly lookups: LookupTimes };

function tableOf(schemes: readonly TimedScheme[]): string[] {
  return printTable(schemes, [
    { head: 'SCHEME', cell: ({ name }) => name },
    { head: 'EVEN', cell: ({ evenness }) => evenness.toFixed(3) },
    { head: 'AFTER', cell: ({ evennessAfter }) => evennessAfter.toFixed(3) },
    { head: 'JOIN', cell: ({ join }) => percent(join.moved) },
    { head: 'SCAN', cell: ({ join }) => join.scanned.length },
    { head: 'FILES', cell: ({ join }) => join.files },
    { head: 'LEAVE', cell: ({ leave }) => percent(leave.moved) },
    { head: 'SCAN', cell: ({ leave }) => leave.scanned.length },
    { head: 'FILES', cell: ({ leave }) => leave.files },
    { head: 'ENTRIES', cell: ({ entries }) => entries },
    { head: 'MAP', cell: ({ lookups }) => lookups.mapNs },
    { head: 'WALK', cell: ({ lookups }) => lookups.walkNs ?? '-' },
  ]);
}
