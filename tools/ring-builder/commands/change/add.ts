// ring-builder add: stages devices to join the ring.
import { counted } from '@ringwright/base/counted';
import { operatorFileBytesMax } from '@ringwright/base/limits';
import type { Change } from '@ringwright/builder/state/change';
import { parsePosition } from '@ringwright/ring/partitioner/hash-ends';
import { type Arguments, usage } from '../../cli/arguments.ts';
import { type Command, flagOption, textOption } from '../../cli/command.ts';
import { readInput } from '../../cli/read-input.ts';
import { askNewcomers } from '../../plan/ask-newcomers.ts';
import { stageAndAnswer } from '../../versions/stage-command.ts';
import { requireKeys, withAskedKeys, withFingerprints } from './ask-keys.ts';
import {
  checkDevice,
  devicesOfFile,
  devicesOfPairs,
  type NewDevice,
  replicationOf,
} from './read-devices.ts';

export const command: Command = {
  positionals: { devices: { describe: 'pairs of device and weight: r1z2-10.0.0.1:6200/sdb 100' } },
  options: {
    region: textOption('number of the region'),
    zone: textOption('number of the zone'),
    ip: textOption('address of the server'),
    port: textOption('port of the server'),
    device: textOption('device name, such as sdb'),
    weight: textOption('weight: share of the data, relative to the other devices'),
    meta: textOption('any text about the device'),
    key: textOption('public key of the device, as printed by its server'),
    'replication-address': textOption('IP:PORT from which other servers copy and repair'),
    'ask-key': flagOption('ask the running servers for their keys'),
    tokens: textOption('positions of the device on the circle: .85 or .1,.6'),
    from: textOption('file with devices as a JSON array or CSV; - is stdin'),
  },
  examples: [
    ['$0 add cities r1z1-10.0.0.1:6200/sdb 100 r1z2-10.0.0.2:6200/sdb 100', 'two devices'],
    [
      '$0 add cities --zone 3 --ip 10.0.0.3 --port 6200 --device sdb --weight 100',
      'the same with options',
    ],
    ['$0 add cities r1z3-10.0.0.3:6200/sdb 100 --ask-key', 'a device that proves its identity'],
    ['$0 add cities --from devices.csv', 'region,zone,ip,port,device,weight,meta,key,replication'],
    ['$0 add cities r1z1-10.0.0.1:6200R10.1.0.1:6300/sdb 100', 'copy over another network'],
  ],
  run: async (args, context) => {
    const typedDevices = await devicesOf(args);
    const devices = args.flag('ask-key') ? await withAskedKeys(typedDevices) : typedDevices;
    const tokens = args.optionalText('tokens')?.split(',').map(parsePosition);
    if (tokens !== undefined && devices.length > 1) {
      throw usage(`--tokens applies to one device, but ${devices.length} are named`);
    }
    const ring = args.text('ring');
    const newcomerLines = context.yes ? [] : await askNewcomers(context, ring, devices);
    const answer = await stageAndAnswer(context, ring, (state) => {
      requireKeys(ring, state.devices, devices);
      return devices.map((device, at): Change => {
        const id = state.devices.length + at;
        return { kind: 'add', device: { id, ...device }, ...(tokens && { tokens }) };
      });
    });
    return withFingerprints({ ...answer, lines: [...answer.lines, ...newcomerLines] }, devices);
  },
};

async function devicesOf(args: Arguments): Promise<readonly NewDevice[]> {
  const flags = ['region', 'zone', 'ip', 'port', 'device', 'weight', 'meta'];
  const flagsUsed = flags.filter((name) => args.has(name));
  const pairs = args.texts('devices');
  const from = args.optionalText('from');
  const formCount = [pairs.length > 0, flagsUsed.length > 0, from !== undefined].filter(
    Boolean,
  ).length;
  if (formCount !== 1) {
    throw usage(
      `${counted(formCount, 'way')} to name devices used; use one of them: pairs, options, or --from FILE`,
      `ring-builder add ${args.text('ring')} r1z2-10.0.0.1:6200/sdb 100`,
    );
  }
  if (pairs.length > 0) return withOwn(args, devicesOfPairs(pairs));
  if (from === undefined) return withOwn(args, [deviceOfFlags(args)]);
  const content = await readInput(from, { bytesMax: operatorFileBytesMax, name: `--from ${from}` });
  return devicesOfFile(content.toString('utf8'), from === '-' ? 'stdin' : from);
}

/**
 * Adds --key and --replication-address. Throws USAGE for several devices, because both are unique.
 */
function withOwn(args: Arguments, devices: readonly NewDevice[]): readonly NewDevice[] {
  const key = args.optionalText('key');
  const copies = args.optionalText('replication-address');
  const option = key === undefined ? copies && '--replication-address' : '--key';
  const [device, ...others] = devices;
  if (option === undefined || device === undefined) return devices;
  if (others.length > 0)
    throw usage(`${option} applies to one device, but ${devices.length} are named`);
  const replication = copies === undefined ? {} : { replication: replicationOf(copies) };
  return [checkDevice({ ...device, ...(key && { key }), ...replication }, 'the device')];
}

function deviceOfFlags(args: Arguments): NewDevice {
  const device = {
    region: args.optionalNumber('region') ?? 1,
    zone: args.optionalNumber('zone') ?? 1,
    ip: args.text('ip'),
    port: args.optionalNumber('port'),
    device: args.text('device'),
    weight: args.optionalNumber('weight'),
    meta: args.optionalText('meta') ?? '',
  };
  if (device.port === undefined) throw usage('--port is missing');
  if (device.weight === undefined) throw usage('--weight is missing');
  return checkDevice(device, 'the device of the options');
}
