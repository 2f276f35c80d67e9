// What `ring-server inspect` prints for people. Pure.
import { printTable } from '@ringwright/base/print-table';
import type { InspectedPartition, InspectedRing } from '@ringwright/server/http/inspection';
import type { InspectedData } from './inspect-data.ts';

type Counts = Pick<InspectedRing, 'rows' | 'tombstones' | 'bytes'>;

const countColumns = [
  { head: 'RECORDS', cell: ({ rows }: Counts) => rows },
  { head: 'DELETIONS', cell: ({ tombstones }: Counts) => tombstones },
  { head: 'BYTES', cell: ({ bytes }: Counts) => bytes },
];

export function printInspection(data: InspectedData): string {
  const { directory, device, server, logBytes } = data;
  const from = server === null ? 'no server runs on it' : `according to its server at ${server}`;
  const lines = [`${directory}: device ${device}, ${from}`, '', ...tablesOf(data)];
  if (logBytes > 0) {
    lines.push(
      '',
      `The log has ${logBytes} bytes, which the next start replays; they are not counted here.`,
    );
  }
  const next = nextOf(data);
  return [...lines, ...(next === null ? [] : ['', `Next: ${next}`]), ''].join('\n');
}

function tablesOf({ rings, partitions, newest }: InspectedData): string[] {
  if (rings !== undefined) {
    if (rings.length === 0) return ['It has no partition.'];
    return printTable(rings, [
      { head: 'RING', cell: ({ ring }) => ring },
      { head: 'PARTITIONS', cell: (ring) => ring.partitions },
      { head: 'FILLING', cell: ({ filling }) => filling },
      { head: 'DAMAGED', cell: ({ damaged }) => damaged },
      ...countColumns,
    ]);
  }
  const damages = (partitions ?? []).flatMap(({ damage }) => (damage === null ? [] : [damage]));
  const records = printTable(newest ?? [], [
    { head: 'NEWEST KEYS', cell: ({ key, key64 }) => key ?? `base64 ${key64}` },
    { head: 'BYTES', cell: ({ valueBytes }) => valueBytes ?? 'deleted' },
    { head: 'WRITTEN', cell: ({ time }) => time },
    { head: 'EXPIRES', cell: ({ expires }) => expires ?? '-' },
  ]);
  return [
    ...printTable<InspectedPartition>(partitions ?? [], [
      { head: 'PARTITION', cell: ({ partition }) => partition },
      { head: 'STATE', cell: ({ state }) => state },
      ...countColumns,
    ]),
    ...damages,
    ...(records.length === 0 ? [] : ['', ...records]),
  ];
}

function nextOf({
  directory,
  ring,
  rings,
  partitions,
  newest,
  server,
}: InspectedData): string | null {
  const first = rings?.[0]?.ring;
  if (first !== undefined) return `ring-server inspect ${directory} ${first}`;
  const partition = partitions?.[0]?.partition;
  if (newest === undefined && partition !== undefined) {
    return `ring-server inspect ${directory} ${ring} ${partition}`;
  }
  return server === null ? `ring-server check ${directory} reads every record` : null;
}
