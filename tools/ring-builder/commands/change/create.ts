// ring-builder create: makes a ring without devices.
import { counted } from '@ringwright/base/counted';
import { trustLifeDaysMax } from '@ringwright/base/limits';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { createState } from '@ringwright/builder/state/create-state';
import { createRing } from '@ringwright/repository/add-ring';
import { listRings } from '@ringwright/repository/folder/list-rings';
import { ringFolder } from '@ringwright/repository/folder/ring-folder';
import { readTrust } from '@ringwright/repository/folder/trust-file';
import { readStoreFile } from '@ringwright/repository/shared/store-file';
import { partitionCountOf } from '@ringwright/ring/partitioner/partitioner';
import { type Arguments, parseNumber } from '../../cli/arguments.ts';
import { type Command, type Context, flagOption, textOption } from '../../cli/command.ts';
import { type BegunSigning, beginSigning, keyNameOf } from '../../versions/begin-signing.ts';
import { noteMadeRoot } from '../../versions/known-root.ts';
import { partitionerOptions, typedPartitioner } from './typed-partitioner.ts';

const dayMs = 86_400_000;

export const command: Command = {
  options: {
    ...partitionerOptions,
    replicas: textOption('devices per partition, such as 3 or 2.5', { demandOption: true }),
    placement: textOption('by weights, or by a clockwise walk from the tokens of the devices', {
      choices: ['shares', 'tokens'],
      default: 'shares',
    }),
    'min-part-hours': textOption('hours before a partition may move again', { default: '0' }),
    overload: textOption('how far a device may exceed its share for dispersion: 0.1 is 10 %', {
      default: '0',
    }),
    unsigned: flagOption('create no signing key: anyone who can reach a server can forge rings'),
    cluster: textOption('name of the cluster; servers of other clusters refuse the ring', {
      default: 'default',
    }),
  },
  examples: [
    ['$0 create cities --partition-power 8 --replicas 3', '256 partitions, as in Swift'],
    [
      '$0 create metrics --partitioner murmur3-mod --partitions 4096 --replicas 3',
      'any number of partitions, as in M3DB',
    ],
    [
      '$0 create users --partitioner hash-intervals --partitions 64 --replicas 3 --hash-key /',
      'all keys of a tenant (the text before the first /) in one partition, in order',
    ],
    [
      '$0 create places --partitioner ranges --boundaries g,n,t --replicas 3',
      'keys in byte order; without --boundaries there is one partition',
    ],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const state = createState({
      ring,
      cluster: args.text('cluster'),
      partitioner: typedPartitioner(args),
      replicas: parseNumber(args.text('replicas'), 'replicas'),
      ...(args.text('placement') === 'tokens' && { placement: 'tokens' as const }),
      minPartHours: parseNumber(args.text('min-part-hours'), 'min-part-hours'),
      overload: parseNumber(args.text('overload'), 'overload'),
    });
    const signing = await signFromTheStart(args, context, state);
    await createRing(context.rings, state, context.command);
    const { partitioner, replicas } = state;
    const partitions = partitionCountOf(partitioner);
    return {
      json: { ...state, partitions, key: signing?.keys.ring ?? null, changed: true },
      lines: [
        `created ring ${ring}: ${counted(partitions, 'partition')} x ${counted(replicas, 'replica')}, no devices`,
        ...(signing === null ? [] : signingLines(signing, context)),
      ],
      next: context.next(`add ${ring} r1z1-10.0.0.1:6200/sdb 100`),
    };
  },
};

/**
 * Begins signing with the first ring of a folder, so that all its versions are signed. Returns null
 * if the ring is not to be signed or the folder has other rings: unsigned ones stay so, because
 * their next push would be refused. The rings of a store stay unsigned, because its operators share
 * a head but no trust.json. Does not ask for a passphrase: when several lines are pasted, it would
 * take the next line for the passphrase.
 */
async function signFromTheStart(
  args: Arguments,
  context: Context,
  { ring, cluster }: BuilderState,
): Promise<BegunSigning | null> {
  const { rings } = context;
  ringFolder(rings, ring); // an invalid name must leave no keys behind
  if ((await listRings(rings)).length > 0 || (await readTrust(rings)) !== null) return null;
  if (args.flag('unsigned') || (await readStoreFile(rings)) !== null) {
    // An earlier folder at this path may have been signed.
    await noteMadeRoot(context, null);
    return null;
  }
  const expires = new Date(context.nowMs() + trustLifeDaysMax * dayMs).toISOString();
  const passphrase = (): Promise<string | null> => context.keys.passphrase('given');
  return beginSigning(context, keyNameOf(context.user), { cluster, expires, passphrase });
}

function signingLines(
  { keys, isOpen }: BegunSigning,
  { keys: { folder }, next }: Context,
): string[] {
  const signed = `its versions are signed with the key ${keys.ring.name}: keep a copy of ${folder}`;
  return isOpen ? [signed, `no passphrase protects that key: ${next('key protect')}`] : [signed];
}
