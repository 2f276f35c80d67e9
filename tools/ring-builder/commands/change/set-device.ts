// ring-builder set-device: stages another address, zone, key or meta of a device.
import { applyChanges } from '@ringwright/builder/state/apply-changes';
import type { Change } from '@ringwright/builder/state/change';
import { stagedChanges } from '@ringwright/repository/folder/builder-file';
import { openRing } from '@ringwright/repository/open-ring';
import {
  type Arguments,
  flag,
  optionalNumber,
  optionalText,
  text,
  usage,
} from '../../cli/arguments.ts';
import { flagOption, textOption } from '../../cli/option-forms.ts';
import type { Answer, Context, Verb } from '../../cli/verb.ts';
import { deviceIdsOf, devicesHelp } from '../../versions/device-reference.ts';
import { stageAndAnswer } from '../../versions/stage-verb.ts';
import { withAskedKeys, withFingerprints } from './ask-keys.ts';
import { checkDevice, replicationOf } from './read-devices.ts';

type Fields = Extract<Change, { kind: 'set-device' }>['fields'];

export const verb: Verb = {
  positionals: {
    device: { describe: `${devicesHelp}; all with --ask-key` },
  },
  options: {
    region: textOption('region, a number'),
    zone: textOption('zone, a number'),
    ip: textOption('address of the server'),
    port: textOption('port of the server'),
    name: textOption('device name, such as sdb'),
    meta: textOption('any text about the device'),
    key: textOption('public key, as its server prints it; none takes it away'),
    'replication-address': textOption(
      'where other servers copy and repair from: IP:PORT; none takes it away',
    ),
    'ask-key': flagOption('ask the server, which must run, for its key'),
  },
  examples: [
    ['$0 set-device cities d3 --ip 10.0.0.9 --zone 2', 'the machine got another address'],
    ['$0 set-device cities d3 --replication-address 10.1.0.9:6300', 'copies over another network'],
    ['$0 set-device cities all --ask-key', 'from the next version on, devices prove who they are'],
  ],
  run: async (args, context) => {
    const fields = fieldsOf(args);
    if (flag(args, 'ask-key')) return setAskedKeys(args, fields, context);
    if (Object.keys(fields).length === 0) {
      throw usage('nothing to set', `ring-builder set-device ${text(args, 'ring')} d3 --zone 2`);
    }
    const reference = text(args, 'device');
    return stageAndAnswer(context, text(args, 'ring'), (state) => {
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
async function setAskedKeys(args: Arguments, fields: Fields, context: Context): Promise<Answer> {
  const [ring, reference] = [text(args, 'ring'), text(args, 'device')];
  if (Object.keys(fields).length > 0) throw usage('--ask-key stands alone');
  const opened = await openRing(context.rings, ring);
  const state = applyChanges(opened.state, stagedChanges(opened.staged));
  const ids = new Set(reference === 'all' ? [] : deviceIdsOf(state, [reference]));
  const meant = state.devices.filter(
    (device) => device?.state === 'active' && (ids.size === 0 || ids.has(device.id)),
  );
  const devices = await withAskedKeys(meant.flatMap((device) => device ?? []));
  const answer = await stageAndAnswer(context, ring, () =>
    devices.map(({ id, key }): Change => ({ kind: 'set-device', id, fields: { key } })),
  );
  return withFingerprints(answer, devices);
}

function fieldsOf(args: Arguments): Fields {
  const key = optionalText(args, 'key');
  const copies = optionalText(args, 'replication-address');
  const given = {
    region: optionalNumber(args, 'region'),
    zone: optionalNumber(args, 'zone'),
    ip: optionalText(args, 'ip'),
    port: optionalNumber(args, 'port'),
    device: optionalText(args, 'name'),
    meta: optionalText(args, 'meta'),
    key: key === 'none' ? '' : key,
    replication: copies === 'none' ? null : copies && replicationOf(copies),
  };
  const fields = Object.entries(given).filter(([, value]) => value !== undefined);
  // Each remaining value has the type of its field.
  return Object.fromEntries(fields) as Fields;
}
