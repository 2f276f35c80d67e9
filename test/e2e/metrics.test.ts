// The metrics of a server are those that the dashboard and the alerts use, and their values are
// correct.
import fs from 'node:fs/promises';
import path from 'node:path';
import { clockAheadMsMax } from '@ringwright/base/limits';
import { diskReserveBytes, diskReserveInodes } from '@ringwright/base/limits-store';
import { programVersion } from '@ringwright/base/program-version';
import { waitFor } from '@ringwright/node/wait-for';
import { wireVersion } from '@ringwright/wire/wire-version';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askServer } from '../support/ask-server.ts';
import { type Cluster, endCluster, keyspace, startCluster } from '../support/cluster.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ servers: 2, partitions: 16, replicas: 2 });
});
afterAll(() => endCluster(cluster));

const provided = path.join(import.meta.dirname, '../../tools/ring-server');
const ask = (at: string) => askServer(cluster.ports()[0]!, { path: at });
const metrics = async (): Promise<string> => (await ask('/metrics')).bytes.toString();

/** Returns the kinds of the metrics by name. */
function kindsIn(text: string): Map<string, string> {
  const kinds = new Map<string, string>();
  for (const [, name = '', kind = ''] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    kinds.set(name, kind);
    if (kind !== 'histogram') continue;
    for (const end of ['bucket', 'sum', 'count']) kinds.set(`${name}_${end}`, kind);
  }
  return kinds;
}

/** Returns the value of the line that begins with this name and its labels. */
const valueOf = (text: string, line: string): number =>
  Number(
    text
      .split('\n')
      .find((one) => one.startsWith(`${line} `))
      ?.slice(line.length + 1),
  );

const namesIn = (expression: string): string[] =>
  expression.match(/\b(ringwright|process|nodejs)_[a-z0-9_]+/g) ?? [];

test('status and metrics report the running release', async () => {
  const told = { version: programVersion, wireVersion };
  expect(JSON.parse((await ask('/v1/status')).bytes.toString())).toMatchObject(told);
  const labels = `version="${programVersion}",wire="${wireVersion}"`;
  expect(await metrics()).toContain(`ringwright_build_info{${labels}} 1\n`);
});

test('the Grafana dashboard uses only metrics of a server, and shows each of them', async () => {
  const file = path.join(provided, 'grafana-dashboard.json');
  const dashboard = JSON.parse(await fs.readFile(file, 'utf8')) as {
    readonly panels: readonly {
      readonly title: string;
      readonly targets?: readonly { expr: string }[];
      readonly options?: { readonly content?: string };
    }[];
  };
  const given = kindsIn(await metrics());
  let named = 0;
  for (const { title, targets = [] } of dashboard.panels) {
    for (const { expr } of targets) {
      const names = namesIn(expr);
      expect(names.length, `${title}: ${expr}`).toBeGreaterThan(0);
      named += names.length;
      for (const name of names) expect(given.has(name), `${title}: ${name}`).toBe(true);
    }
  }
  expect(named).toBeGreaterThan(15);
  // Drawn in a panel or named in a text, including those of Node. A longer name does not count for
  // a shorter one.
  const drawn = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const texts = dashboard.panels.map(({ options }) => options?.content ?? '');
  const shown = new Set([...drawn, ...texts].join(' ').match(/[a-z][a-z0-9_]+/g));
  const isShown = (name: string): boolean =>
    ['', '_bucket', '_sum', '_count'].some((end) => shown.has(`${name}${end}`));
  const bare = [...given.keys()].filter((name) => !/_(bucket|sum|count)$/.test(name));
  expect(
    bare.filter((name) => !isShown(name)),
    'metrics that no panel shows',
  ).toEqual([]);
});

test('the alerts use only metrics of a server', async () => {
  const alerts = await fs.readFile(path.join(provided, 'prometheus-alerts.yaml'), 'utf8');
  const given = kindsIn(await metrics());
  const names = namesIn(alerts);
  expect(names.length).toBeGreaterThan(15);
  expect(names.filter((name) => !given.has(name))).toEqual([]);
  // The same limits as in the server and in `ring-builder health`.
  expect(alerts).toContain(`ringwright_disk_free_bytes < ${diskReserveBytes}\n`);
  expect(alerts).toContain(`ringwright_disk_free_inodes < ${diskReserveInodes}\n`);
  expect(alerts).toContain(`ringwright_stamps_ahead_seconds > ${clockAheadMsMax / 1_000}\n`);
  expect(alerts).toContain(`ringwright_disk_free_bytes < ${2 * diskReserveBytes} or`);
});

test('records, partitions, disk and peers are reported correctly', async () => {
  for (const key of ['milk', 'bread']) {
    await askServer(cluster.ports()[0]!, {
      method: 'PUT',
      path: `/v1/${keyspace}/${key}?consistency=all`,
      body: 'some',
    });
  }
  const text = await metrics();
  const ring = `{ring="${keyspace}"}`;
  expect(valueOf(text, `ringwright_records${ring}`)).toBe(2);
  expect(valueOf(text, `ringwright_record_bytes${ring}`)).toBe(8);
  expect(valueOf(text, `ringwright_partitions{ring="${keyspace}",state="ready"}`)).toBe(16);
  for (const name of [
    'not_ready_partitions',
    'damaged_partitions',
    'failing_steps',
    'held_drops',
  ]) {
    expect(valueOf(text, `ringwright_${name}${ring}`), name).toBe(0);
  }
  const free = valueOf(text, 'ringwright_disk_free_bytes');
  expect(free).toBeGreaterThan(diskReserveBytes);
  expect(free).toBeLessThan(valueOf(text, 'ringwright_disk_bytes'));
  expect(valueOf(text, 'ringwright_unreachable_peers')).toBe(0);
  expect(Math.abs(valueOf(text, 'ringwright_clock_away_seconds'))).toBeLessThan(1);
  // Nothing is signed in this cluster.
  expect(text).not.toMatch(/^ringwright_(certificate|trust|beacon)_expiry\S*\{/m);

  const [, other] = cluster.servers;
  await other?.kill();
  await waitFor('the other server to be missed', {
    ask: async () => valueOf(await metrics(), 'ringwright_unreachable_peers'),
    until: (count) => count === 1,
  });
  await cluster.restart(other!);
});
