// ring-builder replace: stages new devices to take over the slots of a device or of a whole server.
import { CodedError } from '@ringwright/base/coded-error';
import { typedCharactersMax } from '@ringwright/base/limits-commands';
import { isWholeAddress, parseAddress } from '@ringwright/base/server-address';
import { shortened } from '@ringwright/base/shortened';
import type { Change } from '@ringwright/builder/state/change';
import { stagedState } from '@ringwright/repository/folder/builder-file';
import { openRing } from '@ringwright/repository/open-ring';
import type { Device } from '@ringwright/ring/device';
import { type Arguments, usage } from '../../cli/arguments.ts';
import { type Command, flagOption, textOption } from '../../cli/command.ts';
import { deviceIdsOf, devicesHelp } from '../../versions/device-reference.ts';
import { stageAndAnswer } from '../../versions/stage-command.ts';
import { requireKeys, withAskedKeys, withFingerprints } from './ask-keys.ts';
import { cancelFirst } from './cancel-first.ts';
import { checkDevice, type NewDevice } from './read-devices.ts';

type Heir = NewDevice & { readonly replaces: number };

export const command: Command = {
  positionals: {
    old: { describe: `${devicesHelp}; all on one server` },
    new: { describe: 'what is different: 10.0.0.9, 10.0.0.9:6200/sdc, /sdc, r1z3-10.0.0.9' },
  },
  options: {
    key: textOption('public key of the new device, as printed by its server'),
    'ask-key': flagOption('ask the new servers, which must be running, for their keys'),
  },
  about: `What NEW does not mention stays as it was: weight and its ramp, zone, port, name,
meta, pins; but not the replication address at another server: use set-device.
Nothing else moves if old servers keep all other devices or leave as a whole. If a server loses
one of several devices to another address, a few more moves may spread replicas better;
plan shows them. An empty disk at the same address needs no command: its server refills it.`,
  examples: [
    ['$0 replace cities d3 /sdc', 'another disk of the same server takes over from d3'],
    ['$0 replace cities @10.0.0.3 10.0.0.9', 'a whole server, device by device'],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const state = stagedState(await openRing(context.rings, ring));
    const typedHeirs = heirsOf(args, state.devices, deviceIdsOf(state, [args.text('old')]));
    const heirs = args.flag('ask-key') ? await withAskedKeys(typedHeirs) : typedHeirs;
    const answer = await stageAndAnswer(context, ring, ({ devices }) => {
      requireKeys(ring, devices, heirs);
      return heirs.map(({ replaces, ...device }, at): Change => {
        return { kind: 'add', device: { id: devices.length + at, ...device }, replaces };
      });
    });
    const removed = heirs.map(({ replaces }) => replaces);
    return withFingerprints(await cancelFirst(context, { ring, removed, answer }), heirs);
  },
};

type Devices = Parameters<typeof requireKeys>[1] & readonly (NewDevice | null)[];

/**
 * Throws USAGE if the old devices are on several servers, or if one name, port or key is to serve
 * several devices.
 */
function heirsOf(args: Arguments, devices: Devices, ids: readonly number[]): Heir[] {
  const olds = ids.flatMap((id) => devices[id] ?? []);
  const place = placeOf(args.text('new'));
  const key = args.optionalText('key');
  const servers = new Set(olds.map(({ ip }) => ip)).size;
  if (servers > 1) throw usage(`${args.text('old')} matches ${servers} servers, expected one`);
  const single = ['port', 'device'].find((name) => name in place) ?? (key && 'key');
  if (olds.length > 1 && single !== undefined) {
    throw usage(
      `one ${single} for ${olds.length} devices: name the new server alone, or one device`,
    );
  }
  const isSameServer = place.ip === undefined && place.port === undefined;
  return olds.map(({ region, zone, ip, port, device, weight, meta, replication }, at) => {
    const named = { region, zone, ip, port, device, weight, meta, ...place };
    const sameReplication = isSameServer && replication && { replication };
    const fields = { ...named, ...(key && { key }), ...sameReplication };
    return { ...checkDevice(fields, 'the new device'), replaces: ids[at] ?? 0 };
  });
}

type Place = Partial<Pick<Device, 'region' | 'zone' | 'ip' | 'port' | 'device'>>;

/**
 * Parses how the new device differs from the old one: 10.0.0.9, 10.0.0.9:6200/sdc, /sdc,
 * r1z3-fd00::9. Throws DEVICE_INVALID.
 */
function placeOf(written: string): Place {
  const form = /^(?:r(\d{1,9})z(\d{1,9})-)?([^/]*)(?:\/([^_]+))?$/s;
  const [all, region, zone, server = '', device] = form.exec(written) ?? [];
  const address = parseAddress(server);
  if (all === undefined || all === '' || (server !== '' && address === null))
    throw noPlace(written);
  return {
    ...(region !== undefined && { region: Number(region), zone: Number(zone) }),
    ...(address !== null && { ip: lowerIpv6(address.ip) }),
    ...(address !== null && isWholeAddress(server) && { port: address.port }),
    ...(device !== undefined && { device }),
  };
}

/**
 * Rings have IPv6 addresses in lower case. The text after a % is the name of a network interface.
 */
function lowerIpv6(ip: string): string {
  return ip.replace(/^[^%]*:[^%]*/, (address) => address.toLowerCase());
}

function noPlace(written: string): CodedError {
  const typed = shortened(written, typedCharactersMax);
  return new CodedError(
    'DEVICE_INVALID',
    `${JSON.stringify(typed)} is not a place for a new device`,
    {
      hint: 'write IP, IP:PORT/DEVICE or /DEVICE, optionally with r1z2- before it',
      details: { given: typed },
    },
  );
}
