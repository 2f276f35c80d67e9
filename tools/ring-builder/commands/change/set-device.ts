// ring-builder set-device: stages another address, zone, key or meta of a device.
import type { Change, DeviceFields } from '@ringwright/builder/state/change';
import { stagedState } from '@ringwright/repository/folder/builder-file';
import { openRing } from '@ringwright/repository/open-ring';
import { type Arguments, usage } from '../../cli/arguments.ts';
import {
  type Answer,
  type Command,
  type Context,
  flagOption,
  textOption,
} from '../../cli/command.ts';
import { deviceIdsOf, devicesHelp } from '../../versions/device-reference.ts';
import { stageAndAnswer } from '../../versions/stage-command.ts';
import { withAskedKeys, withFingerprints } from './ask-keys.ts';
import { checkDevice, replicationOf } from './read-devices.ts';

export const command: Command = {
  positionals: {
    device: { describe: `${devicesHelp}; all with --ask-key` },
  },
  options: {
    region: textOption('number of the region'),
    zone: textOption('number of the zone'),
    ip: textOption('address of the server'),
    port: textOption('port of the server'),
    name: textOption('device name, such as sdb'),
    meta: textOption('any text about the device'),
    key: textOption('public key, as printed by its server; none removes it'),
    'replication-address': textOption(
      'IP:PORT from which other servers copy and repair; none removes it',
    ),
    'ask-key': flagOption('ask the running server for its key'),
  },
  examples: [
    ['$0 set-device cities d3 --ip 10.0.0.9 --zone 2', 'the machine has a new address'],
    ['$0 set-device cities d3 --replication-address 10.1.0.9:6300', 'copy over another network'],
    [
      '$0 set-device cities all --ask-key',
      'from the next version on, devices prove their identity',
    ],
  ],
  run: async (args, context) => {
    const fields = fieldsOf(args);
    if (args.flag('ask-key')) return setAskedKeys(args, fields, context);
    if (Object.keys(fields).length === 0) {
      throw usage('nothing to set', `ring-builder set-device ${args.text('ring')} d3 --zone 2`);
    }
    const reference = args.text('device');
    return stageAndAnswer(context, args.text('ring'), (state) => {
      return deviceIdsOf(state, [reference]).map((id): Change => {
        const { region, zone, ip, port, device, weight, meta, key, replication } = {
          ...state.devices[id],
          ...fields,
        };
        const named = { region, zone, ip, port, device, weight, meta };
        const optional = { ...(key && { key }), ...(replication && { replication }) };
        checkDevice({ ...named, ...optional }, `device d${id}`);
        return { kind: 'set-device', id, fields };
      });
    });
  },
};

/** Throws USAGE with other fields: --ask-key may apply to all devices, those fields only to one. */
async function setAskedKeys(
  args: Arguments,
  fields: DeviceFields,
  context: Context,
): Promise<Answer> {
  const [ring, reference] = [args.text('ring'), args.text('device')];
  if (Object.keys(fields).length > 0) throw usage('--ask-key takes no other options with it');
  const state = stagedState(await openRing(context.rings, ring));
  const ids = new Set(reference === 'all' ? [] : deviceIdsOf(state, [reference]));
  const matching = state.devices.filter(
    (device) => device?.state === 'active' && (ids.size === 0 || ids.has(device.id)),
  );
  const devices = await withAskedKeys(matching.flatMap((device) => device ?? []));
  const answer = await stageAndAnswer(context, ring, () =>
    devices.map(({ id, key }): Change => ({ kind: 'set-device', id, fields: { key } })),
  );
  return withFingerprints(answer, devices);
}

function fieldsOf(args: Arguments): DeviceFields {
  const key = args.optionalText('key');
  const copies = args.optionalText('replication-address');
  const typed = {
    region: args.optionalNumber('region'),
    zone: args.optionalNumber('zone'),
    ip: args.optionalText('ip'),
    port: args.optionalNumber('port'),
    device: args.optionalText('name'),
    meta: args.optionalText('meta'),
    key: key === 'none' ? '' : key,
    replication: copies === 'none' ? null : copies && replicationOf(copies),
  };
  const fields = Object.entries(typed).filter(([, value]) => value !== undefined);
  // Each remaining value has the type of its field.
  return Object.fromEntries(fields) as DeviceFields;
}
