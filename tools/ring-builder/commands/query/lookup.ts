// ring-builder lookup: shows where keys are.
import { CodedError } from '@ringwright/base/coded-error';
import { keyBytesMax, lookupKeyBytesMax } from '@ringwright/base/limits';
import { type LogEntry, makesVersion } from '@ringwright/repository/folder/log-entry';
import { readLog } from '@ringwright/repository/folder/read-log';
import { readVersion } from '@ringwright/repository/folder/read-version';
import type { Device } from '@ringwright/ring/device';
import { handoffsOf, tierCountsOf } from '@ringwright/ring/handoffs-of';
import { devicesOf } from '@ringwright/ring/lookup';
import { parsePosition } from '@ringwright/ring/partitioner/hash-ends';
import { intervalOfHash } from '@ringwright/ring/partitioner/hash-intervals';
import { intervalJson, intervalOf, intervalText } from '@ringwright/ring/partitioner/intervals-of';
import { partitionerOf } from '@ringwright/ring/partitioner/partition-of-key';
import type { Ring } from '@ringwright/ring/ring';
import { slotsOf } from '@ringwright/ring/slots-of';
import { usage } from '../../cli/arguments.ts';
import { type Command, listOption, textOption } from '../../cli/command.ts';
import { isTime, parseTime } from '../../cli/parse-time.ts';
import { nameDevice } from '../../versions/device-reference.ts';
import { versionOf } from '../../versions/version-reference.ts';

export const command: Command = {
  positionals: {
    keys: { describe: 'keys, literally; put keys that begin with a dash after --' },
  },
  options: {
    at: textOption(
      'version (7, @~1) or time (2026-11-21T08:00Z, or 36h for 36 hours ago); default: the head',
    ),
    position: listOption('instead of a key: a position on the circle of hashes, .73 or 0xbae147ae'),
    handoffs: textOption('number of handoffs to list', { default: '3' }),
  },
  examples: [
    ['$0 lookup cities DE/Berlin/Berlin', 'partition, devices in order, first handoffs'],
    ['$0 lookup cities DE/Berlin/Berlin --at @~1 --json', 'as it was one version ago'],
    ['$0 lookup cities DE/Berlin/Berlin --at 2026-11-21T08:00Z', 'as it was at that time'],
  ],
  readsBehindDashes: true,
  run: async (args, context) => {
    const name = args.text('ring');
    const typedKeys = [...args.texts('keys'), ...args.texts('--')];
    const positions = args.texts('position');
    if (typedKeys.length + positions.length === 0)
      throw usage('no key named', `ring-builder lookup ${name} KEY`);
    const entries = await readLog(context.rings, name);
    const version = versionAt(name, entries, {
      given: args.optionalText('at'),
      nowMs: context.nowMs(),
    });
    const { ring, id } = await readVersion(context.rings, name, version);
    const { partitionOf, atPosition } = partitionsOf(ring);
    const counts = tierCountsOf(ring);
    const handoffCount = args.optionalNumber('handoffs') ?? 0;
    const places = [
      ...typedKeys.map((key) => ({ key, partition: partitionOf(keyBytes(key)) })),
      ...positions.map((position) => ({ position, partition: atPosition(position) })),
    ];
    const keys = places.map((place) => {
      const { partition } = place;
      const interval = intervalOf(ring.partitioner, partition);
      const devices = devicesOf(ring, partition);
      const joiners = slotsOf(ring, partition).flatMap(({ joiner }) => {
        const device = joiner === null ? null : ring.devices[joiner];
        return device ? [device] : [];
      });
      const handoffs = [...handoffsOf(ring, partition, counts).take(handoffCount)];
      const within = interval === null ? {} : { interval: intervalJson(interval) };
      return { ...place, ...within, devices, joiners, handoffs };
    });
    return {
      json: { ring: name, version, id, keys },
      lines: keys.flatMap(({ devices, joiners, handoffs, ...place }, index) => [
        `${'key' in place ? place.key : place.position}: partition ${place.partition}${withinText(ring, place.partition)} (version ${version})`,
        ...named('device ', devices),
        ...named('joining', joiners),
        ...named('handoff', handoffs),
        ...lengthLines(typedKeys[index] ?? ''),
      ]),
      next: context.next(`show ${name} ${version}`),
    };
  },
};

/** Returns functions that find the partition of a key or of a place on the circle. */
function partitionsOf({ keyspace, partitioner }: Ring) {
  return {
    partitionOf: partitionerOf(partitioner),
    atPosition: (position: string): number => {
      if (partitioner.kind === 'hash-intervals') {
        return intervalOfHash(partitioner)(parsePosition(position));
      }
      throw usage(
        `--position: ${keyspace} has no circle of hashes, its partitioner is ${partitioner.kind}`,
      );
    },
  };
}

function withinText({ partitioner }: Ring, partition: number): string {
  const interval = intervalOf(partitioner, partition);
  return interval === null ? '' : ` ${intervalText(interval)}`;
}

function named(what: string, devices: readonly Device[]): string[] {
  return devices.map((device) => `  ${what}  ${nameDevice(device)}`);
}

function lengthLines(key: string): string[] {
  const bytes = Buffer.byteLength(key);
  if (bytes <= keyBytesMax) return [];
  return [`  ring-server accepts keys of up to ${keyBytesMax} bytes, this one has ${bytes}`];
}

function keyBytes(key: string): Uint8Array {
  const bytes = Buffer.from(key, 'utf8');
  if (bytes.length > 0 && bytes.length <= lookupKeyBytesMax) return bytes;
  throw new CodedError(
    'KEY_INVALID',
    `the key has ${bytes.length} bytes, allowed are 1 to ${lookupKeyBytesMax}`,
    {
      hint: 'a key is the bytes of its text in UTF-8',
      details: { bytes: bytes.length, max: lookupKeyBytesMax },
    },
  );
}

/** Throws RING_EMPTY; RING_VERSION_UNKNOWN, also if the ring had no version at that time. */
function versionAt(
  ring: string,
  entries: readonly LogEntry[],
  { given: typed, nowMs }: { readonly given: string | undefined; readonly nowMs: number },
): number {
  const isPoint = typed !== undefined && (isTime(typed) || /^\d{1,6}[mhdw]$/.test(typed));
  if (!isPoint) return versionOf(ring, entries, typed);
  const ms = parseTime(typed, nowMs, '--at');
  const versionEntries = entries.filter(makesVersion);
  const last = versionEntries.findLast(({ time }) => Date.parse(time) <= ms);
  if (last !== undefined) return last.version;
  const first = versionEntries[0];
  const isoTime = new Date(ms).toISOString();
  throw new CodedError('RING_VERSION_UNKNOWN', `ring ${ring} had no version at ${isoTime}`, {
    hint:
      first === undefined
        ? 'it has none yet'
        : `version ${first.version} was made at ${first.time}`,
    details: { ring, at: isoTime },
  });
}
